// SPDX-License-Identifier: Apache-2.0
// The hash of two lanes.
module hash_composed (
    input  logic [63:0] value,
    output logic [31:0] hash
);
  h3_hash #(.LANES(2)) two (.value(value), .hash(hash));
endmodule

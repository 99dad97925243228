// SPDX-License-Identifier: Apache-2.0
// The windows of lanes 63 to 0, within a module: lane i in bits 63 i + 62 to 63 i. They are H3Hash::column() of
// h3_hash.h; tests compare every column.
localparam [63*64-1:0] WINDOWS = {
    63'h72e75392ff05a7e9, 63'h62ae3b78c57843af, 63'h4874e7941e9a2666, 63'h7566d26b890417c0,
    63'h5c1f6bf7e98cacb2, 63'h0068ad70f76dbe3a, 63'h58a37cf61afeb9e9, 63'h1a7e836e7d3b79c8,
    63'h1602e54df4c6e8f3, 63'h36aee4031e48b962, 63'h1ee5df6969ebec87, 63'h0e2a18905a5f1257,
    63'h48f7fd59e54ccce0, 63'h64e86e1af28341c4, 63'h3ac7ef0d81dd53e5, 63'h7bfce667cfc510f3,
    63'h3f9a925f4ffe276e, 63'h3cd5d1c49275bd5d, 63'h2f75fe7d35e3eca2, 63'h5ae004eefa075d3c,
    63'h15d2acb3d274dde5, 63'h3840a8a560a13ba5, 63'h79fdca7fbc65b91c, 63'h1707af2c2878ef8a,
    63'h324bbf9c84ef5670, 63'h7642e5b61569b114, 63'h72e8a30583b6bd79, 63'h4cbd34c2c80de8e1,
    63'h67b9a95d7e41348b, 63'h1d5ac581ec1c38c0, 63'h2741a04a73615e0a, 63'h3a66249b8811e311,
    63'h68d9b4e7755a0b63, 63'h442d3f887e1c021f, 63'h0cbf5bf602224b7d, 63'h644df978cec03334,
    63'h0fd00c9a5c7ade67, 63'h49c3e8ccb1a2cfca, 63'h53ead0bbc45a83df, 63'h1fd6733fed78c4fc,
    63'h3cb9cbe6e44be092, 63'h6975fc1d8a048e74, 63'h07845ada892ba6d0, 63'h3cf0e8b0a6fb3b4b,
    63'h626fbb4aba400fdb, 63'h723bc234f2b6fd66, 63'h13dc7211f3759d82, 63'h49c07c2fbd7d3634,
    63'h67c31dc255f701eb, 63'h557bad7f0c5599c0, 63'h7d2db39886bdb5f6, 63'h460862db1aba0af7,
    63'h5b2b3e2e928f60c4, 63'h4c06df51e72b81d9, 63'h003698ea92a93806, 63'h4eab5d087aea106c,
    63'h3dfeb779f0f85d34, 63'h40bc0d0feb0045ed, 63'h6db976132c4fe22d, 63'h10a65f5bc2ad22c3,
    63'h34ee0a048d735984, 63'h410a1acbb08ad751, 63'h1bc92b726b139810, 63'h51b96d3077acfbb6
};

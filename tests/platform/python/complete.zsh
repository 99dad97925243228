# SPDX-License-Identifier: Apache-2.0
# zsh -f complete.zsh SCRIPT LINE ...: prints, for each command line, what the completion SCRIPT offers at its end: a line with
# all candidates. An interactive zsh does it, in a terminal of its own.
zmodload zsh/zpty || exit 1
export COMPLETION=$1 FOUND=$(mktemp)
shift
inner=$(mktemp)
cat > $inner <<'END'
autoload -Uz compinit
compinit -u -d $FOUND.dump
source $COMPLETION
# Notes what is offered. Calls that only ask what would match are none of that.
compadd() {
  if [[ -n ${(M)@[1,(i)--]:#-[OAD]} ]]; then
    builtin compadd "$@"
    return
  fi
  local -a found
  builtin compadd -O found "$@"
  print -rl -- $found >> $FOUND
  builtin compadd "$@"
}
finish() { print -r -- END-OF-CANDIDATES >> $FOUND }
zle -N finish
bindkey '^X' finish
PS1=
print -r -- READY >> $FOUND
END
wait_for() {  # a line in the file, for at most a minute
  local i
  for i in {1..1200}; do
    grep -q "^$1\$" $FOUND && return
    sleep 0.05
  done
  print -u2 -r -- "complete.zsh: no $1 after a minute"
  exit 1
}
for line in "$@"; do
  : > $FOUND
  zpty -b shell zsh -f -i
  zpty -w shell "source $inner"
  wait_for READY
  zpty -w -n shell "$line"$'\t\x18'
  wait_for END-OF-CANDIDATES
  zpty -d shell
  print -r -- ${(fou)"$(grep -v -e '^READY$' -e '^END-OF-CANDIDATES$' -e '^$' $FOUND)"}
done
rm -f $FOUND $FOUND.dump $inner

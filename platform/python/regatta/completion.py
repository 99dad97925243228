# SPDX-License-Identifier: Apache-2.0
"""Scripts with which bash and zsh complete command lines of regatta, made from what the programs say (--help, --list)."""

import json
import re
import shlex
import sys
from typing import Callable, Dict, List, Sequence, Tuple

from .errors import InputError
from .programs import LISTS, OWN, SEARCHED, TOOLS, Option, Page, ask, knobs_of_schemes, page_of
from .tools import find
from .version import VERSION

SHELLS = ("bash", "zsh")
#: Options whose values are names of a list of regatta-sim, and what may stand between several of them.
_NAMED = {"--scheme": ("schemes", "+"), "--machine": ("machines", ""), "--scheduler": ("schedulers", ""), "--energy": ("energy", ""),
          "--for": ("schemes", ",")}
#: What an option or argument without listed words takes; any other takes a word that is not completed.
_FILES = ("FILE", "NAME=FILE", "PROGRAM", "RUN FILE")
_FOLDERS = ("FOLDER",)
_TOML = ("--launch", "--config", "--machine", "--energy")


def names_of(what: str) -> List[str]:
    """Of regatta-sim --list. Throws InputError."""
    return [str(one["name"]) for one in json.loads(ask(find("regatta-sim"), "--list", what, "--json"))]


def kind_of(value: str, option: str = "") -> str:
    """What completes a value: "files", "files toml", "folders", or "" for nothing. `value`: its name in --help."""
    if option in _TOML:
        return "files toml"
    if option.endswith("_file"):
        return "files"
    if value == "TRACE":
        return "files rgt"
    suffix = re.fullmatch(r"\w+\.(\w+)", value)
    if suffix:
        return f"files {suffix[1]}"
    return "files" if value in _FILES else "folders" if value in _FOLDERS else ""


class _Script:
    """The answers of the functions that both shells' scripts have: options of a program (a command, a scheme), and what
    completes the value of an option or an argument."""

    def __init__(self) -> None:
        self.options: Dict[str, List[Option]] = {}
        self.values: Dict[str, List[str]] = {}  # "words a b", "files toml", "words a b;files toml": for these options
        self.arguments: Dict[str, str] = {}
        self.commands: Dict[str, List[Tuple[str, str]]] = {}

    def add(self, key: str, page: Page, words: Callable[[Option], str]) -> None:
        self.options[key] = page.options
        for option in page.options:
            for name in option.names:
                answer = words(option)
                if option.value:
                    self.values.setdefault(answer, []).append(f"{key} {name}")
        if page.arguments and page.arguments[0] != "COMMAND":
            self.arguments[key] = kind_of(page.arguments[-1])


def _collect(of_regatta: Sequence[Page]) -> _Script:
    lists = {what: names_of(what) for what in LISTS if what not in SEARCHED}
    script = _Script()

    def words(option: Option) -> str:
        parts = []
        if option.names[-1] in _NAMED:
            what, joint = _NAMED[option.names[-1]]
            parts.append(f"words{joint} {' '.join(lists[what] + (['all'] if joint == ',' else []))}")
        elif option.words():
            parts.append(f"words {' '.join(option.words())}")
        elif option.names[-1] == "--list":
            parts.append(f"words {' '.join(LISTS)}")
        kind = kind_of(option.value, option.names[-1])
        return ";".join([*parts, *([kind] if kind else [])])

    for tool in TOOLS:
        try:
            page = page_of(tool)
        except InputError as e:  # a host may lack what one program needs
            print(f"regatta: no completion of regatta-{tool}: {e}", file=sys.stderr)
            continue
        script.add(tool, page, words)
        for command, own in page.commands.items():
            script.add(f"{tool} {command}", own, words)
        if page.commands:
            script.commands[tool] = [(c, "") for c in page.commands]
            script.arguments.pop(tool, None)
        if tool == "sim":
            for scheme, knobs in knobs_of_schemes(page, lists["schemes"]).items():
                if knobs:
                    script.add(f"sim {scheme}", Page("", [], knobs), words)
    for page in of_regatta:
        script.add(page.name.split()[-1], page, words)
        script.arguments.pop(page.name.split()[-1], None)  # commands, which follow
    script.commands["regatta"] = [*TOOLS.items(), *OWN.items()]
    script.commands["list"] = [(what, "") for what in (*LISTS, "kernels")]
    for what in (*LISTS, "kernels"):
        of_list = [o for o in script.options["list"] if "--scheme" not in o.names or what in SEARCHED]
        script.add(f"list {what}", Page("", [], of_list), words)
    script.commands["completion"] = [(shell, "") for shell in SHELLS]
    script.commands["man"] = script.commands["help"] = [(tool, "") for tool in TOOLS]
    return script


def _case(name: str, comment: str, subject: str, answers: Sequence[Tuple[Sequence[str], Sequence[str]]]) -> List[str]:
    """A function of the shell that prints lines by its arguments."""
    lines = [f"# {comment}", f"{name}() {{", f"  case {subject} in"]
    together: Dict[Tuple[str, ...], List[str]] = {}
    for keys, texts in answers:
        together.setdefault(tuple(texts), []).extend(keys)
    for texts, keys in together.items():
        if texts and keys:
            pattern = "|".join(shlex.quote(key) for key in keys)
            lines.append(f"    {pattern}) printf '%s\\n' {' '.join(shlex.quote(text) for text in texts)} ;;")
    return [*lines, "  esac", "}"]


def _described(name: str, text: str) -> str:
    """As zsh wants it."""
    first = re.split(r"[;:.] |\[", text, maxsplit=1)[0].strip()
    return f"{name}:{first[:70]}" if first else name


def _functions(script: _Script, described: bool) -> List[str]:
    def option_texts(options: Sequence[Option]) -> List[str]:
        return [_described(name, o.help) if described else name for o in options for name in o.names if name.startswith("--")]

    def command_texts(commands: Sequence[Tuple[str, str]]) -> List[str]:
        return [_described(name, text) if described else name for name, text in commands]

    return [
        *_case("__regatta_options", "Options of a program, of a command of one, or of regatta-sim under a scheme.", '"$1"',
               [([key], option_texts(options)) for key, options in script.options.items()]),
        *_case("__regatta_commands", "Commands of a program.", '"$1"',
               [([key], command_texts(commands)) for key, commands in script.commands.items()]),
        *_case("__regatta_value", "What completes the value of an option; nothing is printed for an option without one.", '"$1"',
               [(keys, [answer or "any"]) for answer, keys in script.values.items()]),
        *_case("__regatta_argument", "What completes an argument without a name.", '"$1"',
               [([key], [kind]) for key, kind in script.arguments.items() if kind]),
    ]


_BASH = r"""
# Adds what completes the word $2 by an answer $1 of the functions above.
__regatta_add() {
  local part rest prefix found
  while [ -n "$1" ]; do
    part=${1%%;*}
    rest=${1#"$part"}
    rest=${rest#;}
    prefix=''
    case $part in
      words[+,]\ *)  # several names with this between
        local joint=${part#words}
        joint=${joint%% *}
        case $2 in *"$joint"*) prefix=${2%"$joint"*}$joint ;; esac
        mapfile -t found < <(compgen -P "$prefix" -W "${part#words? }" -- "${2#"$prefix"}") ;;
      words\ *) mapfile -t found < <(compgen -W "${part#words }" -- "$2") ;;
      files\ *)
        compopt -o filenames 2>/dev/null || :  # not in a completion
        mapfile -t found < <(compgen -f -X "!*.${part#files }" -- "$2"; compgen -d -- "$2") ;;
      files)
        compopt -o filenames 2>/dev/null || :  # not in a completion
        mapfile -t found < <(compgen -f -- "$2") ;;
      folders)
        compopt -o filenames 2>/dev/null || :  # not in a completion
        mapfile -t found < <(compgen -d -- "$2") ;;
      *) found=() ;;
    esac
    COMPREPLY+=("${found[@]}")
    set -- "$rest" "$2"
  done
}

_regatta() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} tool=${COMP_WORDS[0]##*/} first=1
  COMPREPLY=()
  # '=' is a word of its own.
  if [ "$current" = '=' ]; then
    current=''
  elif [ "$option" = '=' ]; then
    option=${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [ "$tool" = regatta ]; then
    if [ "$COMP_CWORD" -eq 1 ]; then
      mapfile -t COMPREPLY < <(compgen -W "$(__regatta_commands regatta) --help --version" -- "$current")
      return
    fi
    tool=${COMP_WORDS[1]}
    first=2
  fi
  tool=${tool#regatta-}
  # The command of the program, the schemes that are named, and whether options are those of regatta-sim.
  local i word command='' schemes=''
  for ((i = first; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [ "$word" = -- ] && [ "$tool" = sample ]; then
      tool=sim
      command=''
    elif [ "$word" = --scheme ]; then
      schemes=${COMP_WORDS[i+1]}
      if [ "$schemes" = '=' ]; then schemes=${COMP_WORDS[i+2]}; fi
    elif [ "$i" -eq "$first" ] && [ "${word#-}" = "$word" ]; then
      command=$word
    fi
  done
  local commands key answer
  commands=$(__regatta_commands "$tool")
  if [ -n "$commands" ] && [ "$COMP_CWORD" -eq "$first" ] && [ "${current#-}" = "$current" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
    return
  fi
  local keys=("$tool${commands:+${command:+ $command}}")
  if [ "$tool" = sim ]; then
    for word in ${schemes//+/ }; do keys+=("sim $word"); done
  fi
  for key in "${keys[@]}"; do
    answer=$(__regatta_value "$key $option")
    if [ -n "$answer" ]; then
      __regatta_add "$answer" "$current"
      return
    fi
  done
  if [ "${current#-}" != "$current" ]; then
    for key in "${keys[@]}"; do
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$(__regatta_options "$key")" -- "$current")
    done
    return
  fi
  __regatta_add "$(__regatta_argument "${keys[0]}")" "$current"
}
"""

_ZSH = r"""
# Adds what completes the word by an answer $1 of the functions above.
__regatta_add() {
  local part joint
  for part in "${(@s:;:)1}"; do
    case $part in
      words[+,]\ *)  # several names with this between
        joint=${${part#words}%% *}
        compset -P "*[$joint]"
        compadd -- ${=part#words? } ;;
      words\ *) compadd -- ${=part#words } ;;
      files\ *) _files -g "*.${part#files }" ;;
      files) _files ;;
      folders) _files -/ ;;
    esac
  done
}

_regatta() {
  local tool=${words[1]:t} first=2 option=${words[CURRENT-1]} current=${words[CURRENT]}
  local -a lines
  if [[ $tool == regatta ]]; then
    if (( CURRENT == 2 )); then
      lines=("${(@f)$(__regatta_commands regatta)}" '--help:what each command does' '--version:the version')
      _describe -t commands command lines
      return
    fi
    tool=${words[2]}
    first=3
  fi
  tool=${tool#regatta-}
  # The command of the program, the schemes that are named, and whether options are those of regatta-sim.
  local i word command= schemes=
  for (( i = first; i < CURRENT; ++i )); do
    word=${words[i]}
    if [[ $word == -- && $tool == sample ]]; then
      tool=sim
      command=
    elif [[ $word == --scheme ]]; then
      schemes=${words[i+1]}
    elif [[ $word == --scheme=* ]]; then
      schemes=${word#--scheme=}
    elif (( i == first )) && [[ $word != -* ]]; then
      command=$word
    fi
  done
  local commands key answer
  commands=$(__regatta_commands $tool)
  if [[ -n $commands && $CURRENT -eq $first && $current != -* ]]; then
    lines=("${(@f)commands}")
    _describe -t commands command lines
    return
  fi
  local -a keys
  keys=("$tool${commands:+${command:+ $command}}")
  if [[ $tool == sim ]]; then
    for word in ${(s:+:)schemes}; do keys+=("sim $word"); done
  fi
  if [[ $current == --*=* ]]; then
    option=${current%%=*}
    compset -P 1 '*='
  fi
  for key in $keys; do
    answer=$(__regatta_value "$key $option")
    if [[ -n $answer ]]; then
      __regatta_add $answer
      return
    fi
  done
  if [[ $current == -* ]]; then
    lines=()
    for key in $keys; do
      answer=$(__regatta_options $key)
      if [[ -n $answer ]]; then lines+=("${(@f)answer}"); fi
    done
    _describe -o -t options option lines
    return
  fi
  __regatta_add "$(__regatta_argument $keys[1])"
}
"""


def script(shell: str, of_regatta: Sequence[Page]) -> str:
    """For `shell`, one of SHELLS. `of_regatta`: the --help of commands of `regatta` itself. Throws InputError if a program cannot be
    asked."""
    if shell not in SHELLS:
        raise InputError(f"found the shell '{shell}', expected one of {', '.join(SHELLS)}")
    programs = ["regatta", *(f"regatta-{tool}" for tool in TOOLS)]
    collected = _collect(of_regatta)
    if shell == "bash":
        head = [f"# Completion of regatta {VERSION} for bash; written by: regatta completion bash"]
        return "\n".join([*head, *_functions(collected, False)]) + _BASH + f"complete -F _regatta {' '.join(programs)}\n"
    head = [f"#compdef {' '.join(programs)}", f"# Completion of regatta {VERSION} for zsh; written by: regatta completion zsh"]
    # Loaded by its first use, or read by a user's own file.
    end = f'if [[ $funcstack[1] == _regatta ]]; then _regatta "$@"; else compdef _regatta {" ".join(programs)}; fi\n'
    return "\n".join([*head, *_functions(collected, True)]) + _ZSH + end

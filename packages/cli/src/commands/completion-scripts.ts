import type { Argument, Command, Option } from 'commander'

/** The scripts, made from the table of commands. */
export const SHELLS = { bash, zsh, fish } as const
export type Shell = keyof typeof SHELLS

function bash(program: Command): string {
  const cases = program.commands.map((command) => {
    const values = command.options.filter(takesValue).map((option) => {
      const reply = option.argChoices === undefined ? 'COMPREPLY=()' : words(option.argChoices)
      return `        ${flags(option).join('|')}) ${reply}; return ;;`
    })
    const last = words([...command.options.flatMap(flags), '--help'])
    const first = choicesOf(command)
    const other = first === undefined ? 'compopt -o default 2>/dev/null; COMPREPLY=()' : words(first)
    return [
      `    ${command.name()})`,
      ...(values.length === 0 ? [] : ['      case "$previous" in', ...values, '      esac']),
      `      if [[ "$word" == -* ]]; then ${last}; else ${other}; fi ;;`,
    ].join('\n')
  })
  return `# bash completion for resqlite
_resqlite() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  if [[ $COMP_CWORD -eq 1 ]]; then
    ${words([...program.commands.map((command) => command.name()), '--help', '--version'])}
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
}
complete -F _resqlite resqlite
`

  function words(list: readonly string[]): string {
    return `COMPREPLY=($(compgen -W '${list.join(' ')}' -- "$word"))`
  }
}

function zsh(program: Command): string {
  const commands = program.commands.map(
    (command) => `    ${single(`${command.name()}:${command.summary()}`)}`,
  )
  const cases = program.commands.map((command) => {
    const options = command.options.map((option) => {
      const value = !takesValue(option) ? '' : `:${option.attributeName()}:${zshValues(option)}`
      const names = flags(option)
      const repeated = option.attributeName() === 'param' ? "'*'" : `'(${names.join(' ')})'`
      const many = names.length === 1 ? names[0] : `{${names.join(',')}}`
      return `        ${repeated}${many}${single(`[${bracketed(option.description)}]${value}`)}`
    })
    const places = command.registeredArguments.map((argument) => {
      return `        ${single(`:${argument.name()}:${zshValues(argument)}`)}`
    })
    return `      ${command.name()}) _arguments \\\n${[...options, ...places].join(' \\\n')} ;;`
  })
  return `#compdef resqlite
_resqlite() {
  local -a commands=(
${commands.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _resqlite ]; then _resqlite "$@"; else compdef _resqlite resqlite; fi
`
}

function zshValues({ argChoices }: Option | Argument): string {
  return argChoices === undefined ? '_files' : `(${argChoices.join(' ')})`
}

/** Escapes brackets in a description, which stands in brackets itself and would end at the first one. */
function bracketed(text: string): string {
  return text.replace(/[[\]\\]/g, '\\$&')
}

function fish(program: Command): string {
  const names = program.commands.map((command) => command.name()).join(' ')
  const first = `not __fish_seen_subcommand_from ${names}`
  const lines = program.commands.flatMap((command) => {
    const inside = `__fish_seen_subcommand_from ${command.name()}`
    const choices = choicesOf(command)
    return [
      `complete -c resqlite -f -n ${single(first)} -a ${command.name()} -d ${single(command.summary())}`,
      ...(choices === undefined
        ? []
        : [`complete -c resqlite -f -n ${single(inside)} -a ${single(choices.join(' '))}`]),
      ...command.options.map((option) => fishOption(option, inside)),
    ]
  })
  return `# fish completion for resqlite\n${lines.join('\n')}\n`
}

function fishOption(option: Option, inside: string): string {
  const short = option.short ? ` -s ${option.short.slice(1)}` : ''
  const long = option.long ? ` -l ${option.long.slice(2)}` : ''
  const value = takesValue(option) ? ' -x' : ''
  const choices = option.argChoices === undefined ? '' : ` -a ${single(option.argChoices.join(' '))}`
  return `complete -c resqlite -n ${single(inside)}${short}${long}${value}${choices} -d ${single(option.description)}`
}

function flags(option: Option): string[] {
  return [option.short, option.long].flatMap((flag) => flag ?? [])
}

function takesValue(option: Option): boolean {
  return option.required || option.optional
}

/** The values that the only argument of a command can have. */
function choicesOf(command: Command): string[] | undefined {
  return command.registeredArguments[0]?.argChoices
}

/** Quotes a word for a shell, whatever it contains. The three shells agree on quotes, but not on a quote inside quotes. */
function single(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}

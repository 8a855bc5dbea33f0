import { Argument, type Command } from 'commander'
import type { Context } from '../core/context.js'
import { examples } from './command.js'
import { SHELLS, type Shell } from './completion-scripts.js'

export function addCompletion(program: Command, context: Context): void {
  program
    .command('completion')
    .summary('print a script that completes commands and options in a shell')
    .description('Prints a script that completes the commands and options of resqlite with the Tab key.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .addHelpText(
      'after',
      examples(
        ['completion bash > ~/.local/share/bash-completion/completions/resqlite', 'bash'],
        ['completion zsh > ~/.zfunc/_resqlite', 'zsh, where fpath has ~/.zfunc'],
        ['completion fish > ~/.config/fish/completions/resqlite.fish', 'fish'],
      ),
    )
    .action((shell: Shell) => {
      context.stdout.write(SHELLS[shell](program))
    })
}

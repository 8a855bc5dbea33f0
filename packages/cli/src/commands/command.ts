/** Returns the help text that follows the options. Each example is a line, with its purpose. */
export function examples(...lines: readonly (readonly [command: string, meaning: string])[]): string {
  const shown = lines.map(([command, meaning]) => `  # ${meaning}\n  $ resqlite ${command}`)
  return `\nExamples:\n${shown.join('\n')}`
}

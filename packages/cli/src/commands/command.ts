/** Help that follows the options: each example is a line, with what it does. */
export function examples(...lines: readonly (readonly [command: string, meaning: string])[]): string {
  const shown = lines.map(([command, meaning]) => `  # ${meaning}\n  $ resqlite ${command}`)
  return `\nExamples:\n${shown.join('\n')}`
}

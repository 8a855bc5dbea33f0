/**
 * Matches the characters that a terminal would act on, or not show: control characters, escape sequences, marks that change the
 * direction of text, halves of surrogate pairs. The joiners are allowed: emoji and some scripts need them.
 */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/gu

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Returns text of any origin in a form that is safe to write to a terminal. */
export function visible(text: string): string {
  return text.replace(HIDDEN, escaped)
}

/** Does the same for text of several lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n')
}

function escaped(character: string): string {
  const code = character.codePointAt(0) as number
  const hex = code.toString(16)
  if (code < 0x100) return SHORT[character] ?? `\\x${hex.padStart(2, '0')}`
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
}

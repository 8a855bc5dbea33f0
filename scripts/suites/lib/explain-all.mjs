/** The same reason for each of these titles, as {@link judge} takes explanations. */
export function explainAll(titles, why) {
  return Object.fromEntries(titles.map((title) => [title, why]))
}

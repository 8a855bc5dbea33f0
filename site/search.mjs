/** As the search box asks. A guide comes before the reference, which has the same words in many lines. */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  // The generator writes this function into the page, so it uses nothing from outside.
  boostDocument: (id) => (/\/(GUARANTEES|api|GLOSSARY|CHANGELOG)\b/.test(id) ? 0.5 : 1),
}

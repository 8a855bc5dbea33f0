/** What can be imported and exported. */
export const DATA_FORMATS = ['csv', 'ndjson'] as const
export type DataFormat = (typeof DATA_FORMATS)[number]

/** The format that is asked for, or that the name of a file tells. */
export function formatOf(asked: DataFormat | undefined, file: string): DataFormat {
  return asked ?? (/\.(ndjson|jsonl|json)$/i.test(file) ? 'ndjson' : 'csv')
}

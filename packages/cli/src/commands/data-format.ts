import { extname } from 'node:path'
import type { CsvStyle } from '../core/csv-style.js'
import { UsageError } from '../core/errors.js'
import { csvStyle } from './arguments.js'

/** What can be imported and exported. */
export const DATA_FORMATS = ['csv', 'ndjson', 'json'] as const
export type DataFormat = (typeof DATA_FORMATS)[number]

/** The formats by endings of files; a file without one is CSV. */
const ENDINGS: Record<string, DataFormat> = {
  '': 'csv',
  '.csv': 'csv',
  '.txt': 'csv',
  '.tsv': 'csv',
  '.tab': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
}

/** The options of what is imported or exported. */
export interface DataOptions {
  readonly format?: DataFormat
  readonly delimiter?: string
  readonly null?: string
}

/** The format that is asked for, or that the name of a file tells, with the style of CSV. */
export function formatOf(options: DataOptions, file: string): { format: DataFormat; style: CsvStyle } {
  const ending = extname(file).toLowerCase()
  const format = options.format ?? ENDINGS[ending]
  if (format === undefined) {
    const known = Object.keys(ENDINGS).filter(Boolean).join(', ')
    throw new UsageError(
      `what is in a file ${ending}? The endings that are known are ${known}; --format ${DATA_FORMATS.join(', ')} says it for any other`,
    )
  }
  if (format !== 'csv' && (options.delimiter !== undefined || options.null !== undefined))
    throw new UsageError(`--delimiter and --null are for CSV, and not for ${format}`)
  const delimiter = options.delimiter ?? (['.tsv', '.tab'].includes(ending) ? '\t' : ',')
  return { format, style: csvStyle({ delimiter, null: options.null ?? '' }) }
}

import { extname } from 'node:path'
import type { CsvStyle } from '../core/csv-style.js'
import { UsageError } from '../core/errors.js'
import { csvStyle } from './arguments.js'

/** The formats that can be imported and exported. */
export const DATA_FORMATS = ['csv', 'ndjson', 'json'] as const
export type DataFormat = (typeof DATA_FORMATS)[number]

/** The format for each file extension, with the delimiter of CSV. A file without an extension is CSV. */
const ENDINGS: Record<string, { format: DataFormat; delimiter?: string }> = {
  '': { format: 'csv' },
  '.csv': { format: 'csv' },
  '.txt': { format: 'csv' },
  '.tsv': { format: 'csv', delimiter: '\t' },
  '.tab': { format: 'csv', delimiter: '\t' },
  '.ndjson': { format: 'ndjson' },
  '.jsonl': { format: 'ndjson' },
  '.json': { format: 'json' },
}

/** The options of an import or export. */
export interface DataOptions {
  readonly format?: DataFormat
  readonly delimiter?: string
  readonly null?: string
}

/**
 * Returns the requested format, or else the format that the file name shows, with the style of CSV. `isOpen` is true if neither tells
 * the delimiter.
 */
export function formatOf(
  options: DataOptions,
  file: string,
): { format: DataFormat; style: CsvStyle; isOpen: boolean } {
  const ending = extname(file).toLowerCase()
  const known = ENDINGS[ending]
  const format = options.format ?? known?.format
  if (format === undefined) {
    const endings = Object.keys(ENDINGS).filter(Boolean).join(', ')
    throw new UsageError(
      `the ending ${ending} does not tell the format. Known are ${endings}; for any other, give --format ${DATA_FORMATS.join(', ')}`,
    )
  }
  if (format !== 'csv' && (options.delimiter !== undefined || options.null !== undefined))
    throw new UsageError(`--delimiter and --null are for CSV, and not for ${format}`)
  const delimiter = options.delimiter ?? known?.delimiter
  const style = csvStyle({ delimiter: delimiter ?? ',', null: options.null ?? '' })
  return { format, style, isOpen: delimiter === undefined }
}

/** The style in which CSV is written and read. */
export interface CsvStyle {
  /** The character between fields. */
  readonly delimiter: string
  /** The text that, without quotes, stands for NULL. */
  readonly nullText: string
}

/** CSV with commas, in which nothing stands for NULL. */
export const PLAIN_CSV: CsvStyle = { delimiter: ',', nullText: '' }

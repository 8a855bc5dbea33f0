import { Database } from 'resqlite'
import { getLoadablePath } from 'sqlite-vec'

/** One row per note; triggers keep the tags and the full-text index, so a note is one INSERT, in a bulk import too. */
const schema = `
  CREATE TABLE IF NOT EXISTS notes(
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    tags TEXT NOT NULL CHECK (json_type(tags) = 'array'),
    embedding BLOB NOT NULL
  );
  CREATE TABLE IF NOT EXISTS tags(
    tag TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes,
    PRIMARY KEY (tag, note)
  ) WITHOUT ROWID;
  CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(title, body, content='notes', content_rowid='id');
  CREATE TRIGGER IF NOT EXISTS note_added AFTER INSERT ON notes BEGIN
    INSERT OR IGNORE INTO tags SELECT value, new.id FROM json_each(new.tags);
    INSERT INTO words(rowid, title, body) VALUES (new.id, new.title, new.body);
  END;
`

export async function openStore(path: string): Promise<Database> {
  const db = await Database.open(path, { extensions: [getLoadablePath()], durability: 'full' })
  await db.exec(schema)
  return db
}

// The tests that do not run on encrypted databases, each with the reason.

/** Rust: part of the path of the test. */
export const notInRust = [
  ['temporary_files_of_a_connection_fail_too', 'there are no temporary files'],
  [
    'a_damaged_database_gives_no_backup_unless_nobody_looks',
    'a damaged page cannot be decrypted, so nobody can copy it',
  ],
  [
    'a_database_in_memory_and_one_that_is_read_only_can_be_backed_up',
    'compares the bytes of two copies, which have different salts',
  ],
  [
    'an_existing_file_is_refused_or_replaced_as_asked',
    'looks for the first bytes of a file that is not encrypted',
  ],
  ['a_file_with_a_zeroed_header_may_be_damaged', 'with a key, the key is said to be wrong'],
]

/** TypeScript: what the name of the file begins with. */
export const notInNode = [
  { file: '13-', reason: 'gives keys, and none, itself' },
  { file: '82-profile', reason: 'loads the native module with counters, which cannot encrypt' },
  { file: '86-foreign-keys-pragma', reason: 'SQLite 3.53 takes foreign_keys = 256 for 0, and 3.54 does not' },
  { file: '85-other-copies', reason: 'opens the files with other libraries, which have no key' },
]

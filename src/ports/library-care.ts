/** What a person does with workflows of the library. */
export interface LibraryCare {
  /** False: there is none of this name. A file that cannot be read is removed too. Throws `LIBRARY_LOCKED`, `LIBRARY_UNWRITABLE`. */
  remove(name: string): Promise<boolean>;
  /** False: there is none of the first name. Throws `LIBRARY_NAME_REFUSED`, `LIBRARY_DAMAGED`, and as `remove`. */
  rename(name: string, to: string): Promise<boolean>;
}

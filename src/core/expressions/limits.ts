/** The longest text that an expression makes: far more than a value may have, far less than the engine can hold. */
export const MAX_TEXT_CHARS = 64 * 1024 * 1024;

/** The longest list that an expression makes: as many elements as 16 MiB of JSON can have. */
export const MAX_LIST_ITEMS = 8 * 1024 * 1024;

/** How much one evaluation may do, in looks at a part of the expression; about two seconds. */
export const MAX_WORK = 20_000_000;

/** A regular expression as it is written, and as the program that it becomes. */
export const MAX_PATTERN_CHARS = 1_000;
export const MAX_PATTERN_SIZE = 10_000;

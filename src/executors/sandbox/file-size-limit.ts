/** Of one file, and of a sandbox's temporary files together. */
export const FILE_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

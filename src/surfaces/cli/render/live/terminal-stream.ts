/** Where something is shown, with its size where it is a terminal. */
export type TerminalStream = NodeJS.WritableStream & { readonly columns?: number; readonly rows?: number };

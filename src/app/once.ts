/** Makes something when it is first asked for, and only once. What has failed is tried again when it is asked for again. */
export type Once<T> = (() => Promise<T>) & {
  /** Closes what was made. Nothing is made for it, and what could not be made needs no closing. */
  close(close: (made: T) => unknown): Promise<void>;
};

export function once<T>(make: () => Promise<T>): Once<T> {
  let made: Promise<T> | undefined;
  const get = () => {
    if (made === undefined) {
      const making = make();
      made = making;
      making.catch(() => {
        if (made === making) made = undefined;
      });
    }
    return made;
  };
  const close = async (end: (made: T) => unknown) => {
    const open = await made?.catch(() => undefined);
    if (open !== undefined) await end(open);
  };
  return Object.assign(get, { close });
}

/** How a program is held: which of the system's programs go before it, and who it runs as. */
export type Confinement =
  | {
      readonly kind: "bwrap";
      /** `dropped`: set up by root, run as a user of its own. `namespace`: everything in a user namespace. */
      readonly user: "dropped" | "namespace";
    }
  | {
      readonly kind: "process";
      /** `reading`: a user of its own that may read what we may. `same`: ours. */
      readonly user: "reading" | "dropped" | "same";
      /** `setpriv` is there and ends the program with us. */
      readonly diesWithParent: boolean;
    };

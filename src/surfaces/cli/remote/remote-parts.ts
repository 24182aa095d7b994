import type { PawlClient } from "../../../client/pawl-client.ts";
import type { Voice } from "../voice.ts";

/** What a command works with that is done by a server. */
export interface RemoteParts {
  readonly client: PawlClient;
  readonly voice: Voice;
}

/** A command as a server does it. */
export type RemoteCommand = (parts: RemoteParts) => Promise<number>;

type Given<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> };

/** Without the values that are undefined. */
export function given<Values extends object>(values: Values): Given<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<Values>;
}

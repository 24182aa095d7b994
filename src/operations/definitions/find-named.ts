import { relative } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { StoredDefinition } from "../../ports/service/workflow-definitions.ts";
import { findRegistered, type RegisteredDefinition, type RegistryPlaces } from "./registry.ts";

export interface NamedPlaces extends RegistryPlaces {
  /** Definitions that clients have saved. Absent: only files have names. */
  readonly findSaved?: ((name: string) => Promise<StoredDefinition | undefined>) | undefined;
}

/** The definition behind a name: in a file of the application, or saved by a client. */
export type NamedDefinition =
  | { readonly in: "file"; readonly registered: RegisteredDefinition }
  | { readonly in: "storage"; readonly stored: StoredDefinition };

/** Throws `NAME_TAKEN_TWICE` with both places: a file may have come after somebody had saved its name. */
export async function findNamed(places: NamedPlaces, name: string): Promise<NamedDefinition | undefined> {
  const [registered, stored] = await Promise.all([findRegistered(places, name), places.findSaved?.(name)]);
  if (registered !== undefined && stored !== undefined) throw takenTwice(places, { name, file: registered.file });
  if (registered !== undefined) return { in: "file", registered };
  return stored === undefined ? undefined : { in: "storage", stored };
}

export function takenTwice(
  { appDir }: Pick<RegistryPlaces, "appDir">,
  { name, file }: { readonly name: string; readonly file: string },
): PawlError {
  const path = relative(appDir, file);
  return new PawlError("NAME_TAKEN_TWICE", {
    message: `"${name}" is the name of ${path} and of a definition saved through the service.`,
    details: { places: [path, "saved"] },
  });
}

import type { FileStorage } from "../ports/file-storage.ts";

/** The files of a tenant: a folder of the storage, seen as if it were all of it. Without a tenant the storage itself. */
export function filesOfTenant(files: FileStorage, tenantId: string | undefined): FileStorage {
  if (tenantId === undefined) return files;
  // No path can leave the folder: storages refuse `..` and absolute paths.
  const folder = `tenants/${encodeURIComponent(tenantId)}/`;
  return {
    read: (path) => files.read(folder + path),
    ...(files.extendsAtomically === true ? { extendsAtomically: true } : {}),
    write: (path, content, known) => files.write(folder + path, content, known),
    remove: (path) => files.remove(folder + path),
    sizeOf: (path) => files.sizeOf(folder + path),
    readRange: (path, range) => files.readRange(folder + path, range),
    extend: (path, addition) => files.extend(folder + path, addition),
    async list(prefix) {
      const found = await files.list(folder + prefix);
      return found.map((file) => ({ ...file, path: file.path.slice(folder.length) }));
    },
  };
}

import { PawlError } from "../../core/errors/pawl-error.ts";

export interface DatabaseAddress {
  /** With user and password: never shown. */
  readonly url: string;
  /** With its port. */
  readonly host: string;
  /** Host, port and database, for messages. */
  readonly shown: string;
}

/** Reads `database.url`, in the spelling of SQLAlchemy too (`postgresql+asyncpg://`). Throws `CONFIG_INVALID`. */
export function readDatabaseUrl(text: string): DatabaseAddress {
  const url = text.replace(/^postgres(?:ql)?(?:\+\w+)?:/i, "postgresql:");
  const isPostgres = url.startsWith("postgresql://");
  if (!isPostgres || !URL.canParse(url))
    throw new PawlError("CONFIG_INVALID", {
      message: "`database.url` (DATABASE_URL) is not the address of a PostgreSQL database.",
      remedy:
        "Write it as postgresql://USER:PASSWORD@HOST:5432/DATABASE; in user and password escape special characters.",
    });
  const { host: named, pathname, searchParams } = new URL(url);
  const host = named || (searchParams.get("host") ?? "localhost");
  return { url, host, shown: `${host}${pathname}` };
}

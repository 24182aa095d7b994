import { PawlError } from "../../../core/errors/pawl-error.ts";

export function terminalNotFound(id: string): PawlError {
  return new PawlError("TERMINAL_NOT_FOUND", { message: `There is no terminal "${id}".` });
}

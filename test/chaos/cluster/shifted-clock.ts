/** Loaded into a process before its own code (`--import`): its clock shows another time than that of all others. */
const offsetMs = Number(process.env["PAWL_CHAOS_CLOCK_MS"] ?? 0);
const TrueDate = Date;

class ShiftedDate extends TrueDate {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(ShiftedDate.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return TrueDate.now() + offsetMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;

export interface ToolProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

const MAX_MESSAGE_CHARS = 500;
/** So many at once, and then so many each second: what is shown to people does not need more. */
const BURST = 50;
const PER_SECOND = 10;

/** Passes progress on, but never a flood of it. What is left out is lost: the next one tells more. */
export function limitProgress(hear: (progress: ToolProgress) => void): (progress: ToolProgress) => void {
  let allowed = BURST;
  let countedAt = performance.now();
  return ({ progress, total, message }) => {
    const now = performance.now();
    allowed = Math.min(BURST, allowed + ((now - countedAt) / 1_000) * PER_SECOND);
    countedAt = now;
    if (allowed < 1) return;
    allowed -= 1;
    hear({ progress, total, message: message?.slice(0, MAX_MESSAGE_CHARS) });
  };
}

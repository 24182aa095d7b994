/** How a status looks: a colour and a shape, so that it is told apart without colours too. */
interface Look {
  readonly tone: "ok" | "bad" | "warn" | "wait" | "accent" | "soft";
  readonly words: string;
  readonly shape: string;
}

const CIRCLE = "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Z";
const RING = "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 1.8a4.2 4.2 0 1 1 0 8.4 4.2 4.2 0 0 1 0-8.4Z";

const CHECK = `${CIRCLE}m-1 8.6L4.4 8l1.2-1.2L7 8.2l3.4-3.4L11.6 6Z`;
const CLOCK = `${RING}M7.2 5h1.6v2.6l2 1.6-1 1.3-2.6-2.1Z`;
const AGAIN = "M8 2a6 6 0 1 0 6 6h-1.8A4.2 4.2 0 1 1 8 3.8V6l4-3-4-3Z";
const BARS = "M3 3h3.8v10H3Zm6.2 0H13v10H9.2Z";
const PLAY = "M4 2.5v11l9-5.5Z";
const STRUCK = `${RING}M4.6 4 12 11.4 11.2 12.2 3.8 4.8Z`;

const TRIANGLE = "M8 1.5 15 14H1Zm-.8 4.2.2 4h1.2l.2-4Zm0 5v1.6h1.6v-1.6Z";

const LOOKS: Readonly<Record<string, Look>> = {
  queued: { tone: "soft", words: "queued", shape: RING },
  pending: { tone: "soft", words: "pending", shape: RING },
  running: { tone: "accent", words: "running", shape: PLAY },
  retrying: {
    tone: "warn",
    words: "retrying",
    shape: AGAIN,
  },
  waiting: { tone: "wait", words: "waiting", shape: CLOCK },
  awaiting_approval: { tone: "wait", words: "awaiting approval", shape: "M8 1.2 14.8 8 8 14.8 1.2 8Z" },
  held: { tone: "warn", words: "held", shape: BARS },
  completed: { tone: "ok", words: "completed", shape: CHECK },
  partial: {
    tone: "warn",
    words: "partial",
    shape: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 1.8v8.4a4.2 4.2 0 0 1 0-8.4Z",
  },
  failed: {
    tone: "bad",
    words: "failed",
    shape: "M2 2h12v12H2Zm3.4 2.2L4.2 5.4 6.8 8l-2.6 2.6 1.2 1.2L8 9.2l2.6 2.6 1.2-1.2L9.2 8l2.6-2.6-1.2-1.2L8 6.8Z",
  },
  skipped: { tone: "soft", words: "skipped", shape: "M2 3l5 5-5 5Zm6 0 5 5-5 5Z" },
  cancelled: { tone: "soft", words: "cancelled", shape: STRUCK },
  budget_exceeded: {
    tone: "bad",
    words: "budget exceeded",
    shape: TRIANGLE,
  },
  open: { tone: "bad", words: "open", shape: RING },
  retried: { tone: "accent", words: "retried", shape: AGAIN },
  resolved: { tone: "ok", words: "resolved", shape: CHECK },
  delivered: { tone: "ok", words: "delivered", shape: CHECK },
  valid: { tone: "ok", words: "valid", shape: CHECK },
  expired: { tone: "warn", words: "expired", shape: CLOCK },
  revoked: { tone: "soft", words: "revoked", shape: STRUCK },
  connected: { tone: "ok", words: "connected", shape: CHECK },
  connecting: { tone: "accent", words: "connecting", shape: AGAIN },
  ok: { tone: "ok", words: "ok", shape: CHECK },
  warning: { tone: "warn", words: "warning", shape: TRIANGLE },
  enabled: { tone: "ok", words: "enabled", shape: CLOCK },
  paused: { tone: "warn", words: "paused", shape: BARS },
  started: { tone: "ok", words: "started", shape: PLAY },
  interrupted: { tone: "warn", words: "interrupted", shape: "M2 7h5v2H2Zm7-4h2v10H9Zm3 4h2v2h-2Z" },
};

const TONES = {
  ok: "text-ok",
  bad: "text-bad",
  warn: "text-warn",
  wait: "text-wait",
  accent: "text-accent",
  soft: "text-soft",
} as const;

export type Tone = keyof typeof TONES;

export function toneOf(status: string): Tone {
  return LOOKS[status]?.tone ?? "soft";
}

export function wordsOf(status: string): string {
  return LOOKS[status]?.words ?? status.replaceAll("_", " ");
}

/** The sign alone, with the words on hover and for who cannot see it. */
export function StatusSign({ status, size = 14 }: { readonly status: string; readonly size?: number }) {
  const words = wordsOf(status);
  return (
    <span role="img" aria-label={words} title={words} className={`inline-flex shrink-0 ${TONES[toneOf(status)]}`}>
      <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
        <path d={LOOKS[status]?.shape ?? RING} fill="currentColor" fillRule="evenodd" />
      </svg>
    </span>
  );
}

/** Sign and words. */
export function Status({ status }: { readonly status: string }) {
  return (
    <span className={`inline-flex items-center gap-1.5 whitespace-nowrap ${TONES[toneOf(status)]}`}>
      <span aria-hidden="true" className="inline-flex">
        <StatusSign status={status} />
      </span>
      {wordsOf(status)}
    </span>
  );
}

import { useEffect, useMemo, useState } from "react";
import { Link } from "wouter";
import { useInAddress } from "../../data/use-address.ts";
import { useCall } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Check, Choice } from "../../parts/fields.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Split } from "../../parts/split.tsx";
import { Id } from "../../parts/values.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { type Cast, readCast } from "./cast.ts";
import { CastPlayer } from "./cast-player.ts";
import type { Emulator } from "./emulator.ts";
import { StepsThen } from "./steps-then.tsx";
import { TerminalScreen } from "./terminal-screen.tsx";
import { usePlaying } from "./use-playing.ts";

/** A recording, played beside the states of its run as they were. */
export function PlayedRecording({ path }: { readonly path: string }) {
  const { data, error } = useCall("GET /recordings/{path}", { path });
  const cast = useMemo(() => data && readCast(new TextDecoder().decode(data)), [data]);
  const [, run, file = path] = /^artifacts\/([^/]+)\/(.+)$/.exec(path) ?? [];
  return (
    <>
      <ViewBar
        title={
          <>
            <Link href="/terminals?tab=recordings" className="text-accent">
              Recordings
            </Link>{" "}
            / <Id id={file} whole />
          </>
        }
      >
        <span className="min-w-0 truncate font-mono text-sm text-soft">{cast?.title}</span>
      </ViewBar>
      {error !== null ? (
        <div className="p-4">
          <Problem error={error} />
        </div>
      ) : data === undefined ? (
        <Loading what="the recording" />
      ) : cast === undefined ? (
        <div className="p-4">
          <Problem
            error={{
              code: "NO_RECORDING",
              message: "This file is no asciicast of version 2.",
              remedy: `See what it is: pawl storage get ${path}`,
            }}
          />
        </div>
      ) : (
        <Played cast={cast} run={run} />
      )}
    </>
  );
}

const SPEEDS = ["0.5", "1", "2", "4", "8"];
/** What the arrow keys move by. */
const STEP_SECONDS = 5;

function Played({ cast, run }: { readonly cast: Cast; readonly run: string | undefined }) {
  const [speed, setSpeed] = useInAddress("speed", "1");
  const [skipsRests, setSkipsRests] = useState(true);
  const { at, isPlaying, seek, toggle } = usePlaying(cast, { speed: Number(speed) || 1, skipsRests });
  const [emulator, setEmulator] = useState<Emulator>();
  const player = useMemo(() => emulator && new CastPlayer(cast, emulator), [cast, emulator]);
  useEffect(() => void player?.seek(at), [player, at]);
  useKeys({
    " ": toggle,
    ArrowLeft: () => seek(at - STEP_SECONDS),
    ArrowRight: () => seek(at + STEP_SECONDS),
  });
  const { startedAt } = cast;
  const played = (
    <div className="flex min-h-0 flex-1 flex-col">
      <TerminalScreen label="What the terminal showed" onEmulator={setEmulator} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line bg-surface px-3 py-2">
        <Button kind="main" hint="Space" onClick={toggle}>
          {isPlaying ? "Pause" : at >= cast.seconds ? "Play again" : "Play"}
        </Button>
        <input
          type="range"
          aria-label="Time"
          aria-valuetext={`${toClock(at)} of ${toClock(cast.seconds)}`}
          min={0}
          max={cast.seconds}
          step="any"
          value={at}
          className="min-w-32 flex-1 accent-accent"
          onChange={({ target }) => seek(Number(target.value))}
        />
        <span className="whitespace-nowrap">
          {toClock(at)} <span className="text-soft">/ {toClock(cast.seconds)}</span>
        </span>
        <div className="w-20">
          <Choice
            label="Speed"
            hidesLabel
            value={speed}
            choices={SPEEDS.map((each) => [each, `${each} ×`] as const)}
            onPick={setSpeed}
          />
        </div>
        <Check label="Skip rests" isOn={skipsRests} onChange={setSkipsRests} />
      </div>
    </div>
  );
  if (run === undefined || startedAt === undefined) return played;
  return (
    <Split
      label="Between the recording and the states"
      left={played}
      right={<StepsThen run={run} time={startedAt + at * 1_000} onSeek={(time) => seek((time - startedAt) / 1_000)} />}
    />
  );
}

/** 0:07.3, 12:04.0. */
function toClock(seconds: number): string {
  const tenths = Math.floor(seconds * 10);
  const rest = ((tenths % 600) / 10).toFixed(1);
  return `${Math.floor(tenths / 600)}:${rest.padStart(4, "0")}`;
}

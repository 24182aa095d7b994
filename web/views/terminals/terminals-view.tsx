import { Redirect, useLocation } from "wouter";
import { useServer } from "../../data/server.tsx";
import { useInAddress, useNamed } from "../../data/use-address.ts";
import { Button } from "../../parts/button.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { LiveTerminal } from "./live-terminal.tsx";
import { OpenTerminals } from "./open-terminals.tsx";
import { PlayedRecording } from "./played-recording.tsx";
import { Recordings } from "./recordings.tsx";
import { useTerminals } from "./use-terminals.ts";

const RECORDINGS = "recordings/";

/** Terminals that are open, one of them live, and the recordings of those that have ended. */
export function TerminalsView() {
  const { data, error, isFetching, isPending, refetch } = useTerminals();
  const { keys } = useServer();
  const items = data?.items ?? [];
  const [tab, setTab] = useInAddress("tab", "open");
  const [, go] = useLocation();
  const below = useNamed();
  if (below === "recordings") return <Redirect to="/terminals?tab=recordings" replace />;
  if (below.startsWith(RECORDINGS)) {
    const path = below.slice(RECORDINGS.length);
    return <PlayedRecording key={path} path={path} />;
  }
  if (below !== "") {
    return <LiveTerminal key={below} id={below} terminal={items.find(({ session_id }) => session_id === below)} />;
  }
  return (
    <>
      <ViewBar
        title="Terminals"
        actions={
          tab === "open" && (
            <Button isBusy={isFetching} onClick={() => void refetch()}>
              Look again
            </Button>
          )
        }
      >
        <Tabs
          label="Terminals"
          tabs={[
            ["open", "Open", items.length],
            ...(keys.isOnlyForTerminals ? [] : [["recordings", "Recordings"] as const]),
          ]}
          value={tab}
          onPick={setTab}
        />
      </ViewBar>
      {tab === "open" ? (
        <OpenTerminals
          items={items}
          error={error}
          isPending={isPending}
          onOpen={(id) => go(`/terminals/${encodeURIComponent(id)}`)}
        />
      ) : (
        <Recordings />
      )}
    </>
  );
}

import { type ComponentType, Suspense, useState, useSyncExternalStore } from "react";
import { Link, Redirect, Route, Router, Switch, useLocation } from "wouter";
import { useFeedState, useServer } from "./data/server.tsx";
import { useWrittenLocation, useWrittenSearch } from "./data/use-address.ts";
import { useCall } from "./data/use-call.ts";
import { AskForKey } from "./parts/ask-for-key.tsx";
import { Button } from "./parts/button.tsx";
import { KeyHelp } from "./parts/key-help.tsx";
import { useKeys } from "./parts/keys.ts";
import { Empty, Loading } from "./parts/loading.tsx";
import { ThemeChoice } from "./parts/theme-choice.tsx";
import { lazyView, ViewGuard } from "./parts/view-guard.tsx";

interface View {
  readonly path: string;
  readonly title: string;
  /** Stands in the navigation. */
  readonly isListed: boolean;
  readonly View: ComponentType;
}

const TERMINALS = "/terminals/*?";

/** Every view by its address. One that is not the first page loads when it is opened. */
const VIEWS: readonly View[] = [
  listed(
    "/runs",
    "Runs",
    lazyView(async () => ({ default: (await import("./views/runs/runs-view.tsx")).RunsView })),
  ),
  unlisted(
    "/runs/:id",
    lazyView(async () => ({ default: (await import("./views/run/run-view.tsx")).RunView })),
  ),
  unlisted(
    "/compare",
    lazyView(async () => ({ default: (await import("./views/compare/compare-view.tsx")).CompareView })),
  ),
  listed(
    "/approvals/*?",
    "Approvals",
    lazyView(async () => ({ default: (await import("./views/approvals/approvals-view.tsx")).ApprovalsView })),
  ),
  listed(
    "/workflows/*?",
    "Workflows",
    lazyView(async () => ({ default: (await import("./views/workflows/workflows-view.tsx")).WorkflowsView })),
  ),
  listed(
    "/schedules",
    "Schedules",
    lazyView(async () => ({ default: (await import("./views/schedules/schedules-view.tsx")).SchedulesView })),
  ),
  listed(
    "/dead-letters",
    "Dead letters",
    lazyView(async () => ({ default: (await import("./views/dead-letters/dead-letters-view.tsx")).DeadLettersView })),
  ),
  listed(
    "/costs",
    "Costs",
    lazyView(async () => ({ default: (await import("./views/costs/costs-view.tsx")).CostsView })),
  ),
  listed(
    "/webhooks",
    "Webhooks",
    lazyView(async () => ({ default: (await import("./views/webhooks/webhooks-view.tsx")).WebhooksView })),
  ),
  listed(
    TERMINALS,
    "Terminals",
    lazyView(async () => ({ default: (await import("./views/terminals/terminals-view.tsx")).TerminalsView })),
  ),
  listed(
    "/agents",
    "Agents",
    lazyView(async () => ({ default: (await import("./views/agents/agents-view.tsx")).AgentsView })),
  ),
  listed(
    "/keys",
    "Keys",
    lazyView(async () => ({ default: (await import("./views/keys/keys-view.tsx")).KeysView })),
  ),
  listed(
    "/settings",
    "Settings",
    lazyView(async () => ({ default: (await import("./views/settings/settings-view.tsx")).SettingsView })),
  ),
  listed(
    "/doctor",
    "Doctor",
    lazyView(async () => ({ default: (await import("./views/doctor/doctor-view.tsx")).DoctorView })),
  ),
];

/** Of a view that has parts, the address without them. */
function toHref(path: string): string {
  return path.replace("/*?", "");
}

function listed(path: string, title: string, View: ComponentType): View {
  return { path, title, isListed: true, View };
}

function unlisted(path: string, View: ComponentType): View {
  return { path, title: "", isListed: false, View };
}

export function App() {
  const { keys } = useServer();
  const asked = useSyncExternalStore(keys.subscribe, () => keys.asked);
  const [isHelping, setHelping] = useState(false);
  useKeys({ "?": () => setHelping(true) });
  return (
    <Router base="/ui" hook={useWrittenLocation} searchHook={useWrittenSearch}>
      <div className="flex h-full max-md:flex-col">
        <Navigation onHelp={() => setHelping(true)} />
        <main className="flex min-h-0 min-w-0 flex-1 flex-col">
          <Suspense fallback={<Loading what="the view" />}>
            <Switch>
              {VIEWS.map(({ path, View }) => (
                <Route key={path} path={path}>
                  <ViewGuard key={path}>
                    <View />
                  </ViewGuard>
                </Route>
              ))}
              <Route path="/">
                <Redirect to={keys.isOnlyForTerminals ? "/terminals" : "/runs"} replace />
              </Route>
              <Route>
                <Empty title="There is no such view.">
                  <Link href="/runs" className="text-accent underline">
                    Go to the runs
                  </Link>
                </Empty>
              </Route>
            </Switch>
          </Suspense>
        </main>
      </div>
      {asked !== undefined && <AskForKey reason={asked} />}
      {isHelping && <KeyHelp onClose={() => setHelping(false)} />}
    </Router>
  );
}

function Navigation({ onHelp }: { readonly onHelp: () => void }) {
  const [at] = useLocation();
  const { isOnlyForTerminals } = useServer().keys;
  const listed = VIEWS.filter(({ path, isListed }) => isListed && (!isOnlyForTerminals || path === TERMINALS));
  return (
    <nav
      aria-label="Views"
      className="flex shrink-0 flex-col border-line bg-surface max-md:flex-row max-md:items-center max-md:border-b md:w-44 md:border-r"
    >
      <Link href="/" className="px-3 py-2 text-base font-bold tracking-tight">
        pawl
      </Link>
      <div className="flex min-h-0 flex-1 gap-px overflow-auto px-1.5 max-md:flex-row md:flex-col">
        {listed.map(({ path, title }) => (
          <Link
            key={path}
            href={toHref(path)}
            aria-current={at === toHref(path) || at.startsWith(`${toHref(path)}/`) ? "page" : undefined}
            className="flex items-center justify-between gap-2 whitespace-nowrap rounded px-2 py-1 text-sm text-soft hover:bg-raised hover:text-ink aria-[current=page]:bg-raised aria-[current=page]:font-medium aria-[current=page]:text-ink"
          >
            {title}
            {toHref(path) === "/approvals" && <WaitingApprovals />}
          </Link>
        ))}
      </div>
      <div className="flex items-center gap-1 p-1.5 md:flex-col md:items-stretch md:border-t md:border-line">
        {!isOnlyForTerminals && <Liveness />}
        <div className="flex items-center gap-1">
          <ThemeChoice />
          <Button kind="quiet" aria-label="Keys" onClick={onHelp}>
            ?
          </Button>
        </div>
      </div>
    </nav>
  );
}

const COUNTED = 100;

/** How many questions wait for a person. */
function WaitingApprovals() {
  const { data } = useCall(
    "GET /approvals",
    { limit: COUNTED },
    { when: ({ event }) => event.startsWith("approval.") || event === "run.finished" },
  );
  const count = data?.items.length ?? 0;
  if (count === 0) return null;
  return (
    <span className="rounded-full bg-wait px-1.5 text-xs font-semibold text-surface">
      {count < COUNTED ? count : `${count}+`}
      <span className="sr-only"> waiting for a person</span>
    </span>
  );
}

/** Whether what is shown is the present, and a button to hold it still. */
function Liveness() {
  const { feed } = useServer();
  const { state, waiting } = useFeedState();
  const words = {
    connecting: "connecting …",
    live: "live",
    lost: "behind: connecting …",
    paused: waiting === 0 ? "paused" : `paused, ${waiting.toLocaleString()} new`,
  }[state];
  const tone = { connecting: "text-soft", live: "text-ok", lost: "text-bad", paused: "text-warn" }[state];
  return (
    <div className="flex items-center justify-between gap-1 px-1 text-xs">
      <span role="status" className={tone}>
        <span aria-hidden="true">● </span>
        {words}
      </span>
      <Button kind="quiet" aria-pressed={state === "paused"} onClick={() => feed.pause(state !== "paused")}>
        {state === "paused" ? "go on" : "pause"}
      </Button>
    </div>
  );
}

import { Component, type ComponentType, lazy, type ReactNode, useEffect } from "react";
import { Problem } from "./problem.tsx";

class NotLoaded extends Error {}

/** A part of the pages that loads when it is opened. Where the server is away, it loads when it is back. */
export function lazyView<Props>(load: () => Promise<{ default: ComponentType<Props> }>) {
  return lazy(() =>
    load().catch((error: unknown) => {
      throw new NotLoaded(String(error));
    }),
  );
}

const LOOK_MS = 1_500;

/** A browser keeps a module that has failed: the page is loaded again as soon as the server answers. */
function Away() {
  useEffect(() => {
    const look = () =>
      fetch("/healthz").then(
        ({ ok }) => ok && location.reload(),
        () => undefined,
      );
    const looking = setInterval(() => void look(), LOOK_MS);
    return () => clearInterval(looking);
  }, []);
  const message = "This view could not be loaded from the server.";
  return (
    <Problem error={{ code: "VIEW_NOT_LOADED", message, remedy: "It comes by itself when the server answers." }} />
  );
}

interface State {
  readonly error?: Error;
}

/** A view that fails says so, and leaves the others alone. */
export class ViewGuard extends Component<{ readonly children: ReactNode }, State> {
  override state: State = {};

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div className="p-4">
        {error instanceof NotLoaded ? (
          <Away />
        ) : (
          <Problem
            error={{
              code: "VIEW_FAILED",
              message: error.message,
              remedy: "Load the page again. If it fails again, tell us what you did.",
            }}
          />
        )}
      </div>
    );
  }
}

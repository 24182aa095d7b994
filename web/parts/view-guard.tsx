import { Component, type ReactNode } from "react";
import { Problem } from "./problem.tsx";

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
        <Problem
          error={{
            code: "VIEW_FAILED",
            message: error.message,
            remedy: "Load the page again. If it fails again, tell us what you did.",
          }}
        />
      </div>
    );
  }
}

"use client";

import { Component, type ReactNode } from "react";

import { isLateCode } from "./error-sentences";
import { Failure } from "./failure";

/** Around one region: a failure in it leaves the others as they are. */
export class ErrorBoundary extends Component<{ children: ReactNode; onRetry?: () => void }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <Failure
        error={this.state.error}
        onRetry={() => {
          // What the server no longer has under its old name comes with the page as it is now.
          if (isLateCode(this.state.error)) return window.location.reload();
          this.props.onRetry?.();
          this.setState({ error: null });
        }}
      />
    );
  }
}

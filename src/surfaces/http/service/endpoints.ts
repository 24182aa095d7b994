import { approve, getApproval, listApprovalsEndpoint, reject, skip } from "./approvals/approvals.ts";
import type { Endpoint } from "./endpoint.ts";
import { createKeyEndpoint, listKeysEndpoint, revokeKeyEndpoint } from "./keys/keys.ts";
import { getRun, listRunsEndpoint } from "./runs/read-runs.ts";
import { cancelRunEndpoint, resumeRunEndpoint, signalRun } from "./runs/steer-runs.ts";
import { streamRunEndpoint } from "./runs/stream-run.ts";
import { runSync, submitRun } from "./runs/submit-run.ts";
import { getHealth } from "./system/health.ts";

/** Every route of the service, in the order of its document. */
export const ENDPOINTS: readonly Endpoint[] = [
  submitRun,
  runSync,
  listRunsEndpoint,
  getRun,
  streamRunEndpoint,
  cancelRunEndpoint,
  resumeRunEndpoint,
  signalRun,
  listApprovalsEndpoint,
  getApproval,
  approve,
  reject,
  skip,
  createKeyEndpoint,
  listKeysEndpoint,
  revokeKeyEndpoint,
  getHealth,
];

import { loadOperations } from "../../../operations/operations.ts";
import { approve, getApproval, listApprovalsEndpoint, reject, skip } from "./approvals/approvals.ts";
import type { Endpoint } from "./endpoint.ts";
import { streamEventsEndpoint } from "./events/stream-events.ts";
import { compareRunsEndpoint } from "./runs/compare-runs.ts";
import { deleteRunEndpoint } from "./runs/delete-run.ts";
import { readRunEventsEndpoint, readRunGraphEndpoint } from "./runs/read-history.ts";
import { readRunLogsEndpoint } from "./runs/read-logs.ts";
import { getRun, listRunsEndpoint } from "./runs/read-runs.ts";
import { forkRunEndpoint, replayRunEndpoint, rerunRunEndpoint } from "./runs/repeat-runs.ts";
import { cancelRunEndpoint, resumeRunEndpoint, signalRun } from "./runs/steer-runs.ts";
import { streamRunEndpoint } from "./runs/stream-run.ts";
import { runSync, submitRun } from "./runs/submit-run.ts";
import { type ServeByHand, toEndpoints } from "./serve-operation.ts";
import { getArtifact, listArtifactsEndpoint } from "./storage/artifacts.ts";
import { getStoredFile, listStorageEndpoint, putStoredFile, removeStoredFileEndpoint } from "./storage/storage.ts";
import { getHealth } from "./system/health.ts";
import { readMetrics } from "./system/metrics.ts";
import { getTemplate, listTemplatesEndpoint } from "./templates/templates.ts";
import { putWorkflow, removeWorkflowEndpoint, saveWorkflowEndpoint } from "./workflows/change-workflows.ts";
import { planRunEndpoint } from "./workflows/plan-run.ts";
import {
  getWorkflow,
  listVersionsEndpoint,
  listWorkflowsEndpoint,
  validateWorkflow,
} from "./workflows/read-workflows.ts";

const WRITTEN: readonly Endpoint[] = [
  submitRun,
  runSync,
  // Before those of one workflow: the first that fits answers.
  validateWorkflow,
  planRunEndpoint,
  listWorkflowsEndpoint,
  saveWorkflowEndpoint,
  getWorkflow,
  putWorkflow,
  removeWorkflowEndpoint,
  listVersionsEndpoint,
  listRunsEndpoint,
  compareRunsEndpoint,
  getRun,
  deleteRunEndpoint,
  streamRunEndpoint,
  streamEventsEndpoint,
  readRunLogsEndpoint,
  readRunEventsEndpoint,
  readRunGraphEndpoint,
  cancelRunEndpoint,
  resumeRunEndpoint,
  signalRun,
  listArtifactsEndpoint,
  getArtifact,
  rerunRunEndpoint,
  replayRunEndpoint,
  forkRunEndpoint,
  listApprovalsEndpoint,
  getApproval,
  approve,
  reject,
  skip,
  listStorageEndpoint,
  getStoredFile,
  putStoredFile,
  removeStoredFileEndpoint,
  listTemplatesEndpoint,
  getTemplate,
  getHealth,
  readMetrics,
];

/** Answers that are streams and files. */
const BY_HAND: Readonly<Record<string, ServeByHand>> = {};

/** Every route of the service, in the order of its document. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...WRITTEN,
  ...(await loadOperations()).flatMap((operation) => toEndpoints(operation, BY_HAND)),
];

// Made by `npm run generate:client` from the schemas of the HTTP API. Not to be edited.
import type { Json, JsonObject } from "../core/json.ts";

export interface paths {
    "/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the questions that wait for a person */
        get: operations["listApprovals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/approvals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show one question */
        get: operations["getApproval"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/approvals/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say yes, with edited data where the question allows it */
        post: operations["approve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/approvals/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say no */
        post: operations["reject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/approvals/{id}/skip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Go on without an answer: the step is skipped */
        post: operations["skip"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List budgets and how much of them is used */
        get: operations["listBudgets"];
        put?: never;
        /** Set what runs of a workflow, a tenant or everybody may use together; set again, it is changed */
        post: operations["setBudget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/budgets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a budget and how much of it is used */
        get: operations["getBudget"];
        put?: never;
        post?: never;
        /** Remove a budget, with what was counted */
        delete: operations["removeBudget"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what runs have cost */
        get: operations["sumCosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dead-letter": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the steps that have failed for good, oldest first */
        get: operations["listDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dead-letter/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show one dead letter */
        get: operations["getDeadLetter"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dead-letter/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Note that nothing more is to be done */
        post: operations["resolveDeadLetter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dead-letter/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Do the run again from the step that has failed */
        post: operations["retryDeadLetter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow all runs as server-sent events */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the service and what it stands on are */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the keys */
        get: operations["listKeys"];
        put?: never;
        /** Make a key; it is shown this once */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a key: from now on it opens nothing */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the server has counted, in the text format of Prometheus */
        get: operations["readMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs, newest first */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compare two runs */
        get: operations["compareRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Go on with every run that can go on */
        post: operations["resumeRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a run and its steps */
        get: operations["getRun"];
        put?: never;
        post?: never;
        /** Delete a run that has ended */
        delete: operations["deleteRun"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the files that a run has produced */
        get: operations["listArtifacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/artifacts/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a file that a run has produced */
        get: operations["readArtifact"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a run */
        post: operations["cancelRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A run's journal, oldest first */
        get: operations["readRunEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Do a run again from a step, with something changed */
        post: operations["forkRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The graph that a run goes by */
        get: operations["readRunGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What agents said, attempt by attempt, oldest first */
        get: operations["readRunLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Another name of rerunRun */
        post: operations["replayRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Do a run again from a step */
        post: operations["rerunRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Go on with a run that was laid down */
        post: operations["resumeRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/signals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tell a run that an event has happened */
        post: operations["signalRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow a run as server-sent events */
        get: operations["streamRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the schedules, oldest first */
        get: operations["listSchedules"];
        put?: never;
        /** Start a workflow by the clock from now on */
        post: operations["createSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a schedule and its next five times */
        get: operations["getSchedule"];
        put?: never;
        post?: never;
        /** Remove a schedule; its runs stay */
        delete: operations["removeSchedule"];
        options?: never;
        head?: never;
        /** Change, pause or resume a schedule */
        patch: operations["changeSchedule"];
        trace?: never;
    };
    "/schedules/{id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a run of a schedule now, beside its slots */
        post: operations["runSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{id}/slots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell what became of a schedule's slots, newest first */
        get: operations["listScheduleSlots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List stored files, by path */
        get: operations["listStoredFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/storage/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a stored file */
        get: operations["readStoredFile"];
        /** Store a file; the body is its content, whatever its media type */
        put: operations["writeStoredFile"];
        post?: never;
        /** Remove a stored file */
        delete: operations["removeStoredFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List templates of workflows */
        get: operations["listTemplates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a template with its files */
        get: operations["showTemplate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/violations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what policies had to say, over all runs, newest first */
        get: operations["listViolations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List deliveries of webhooks, newest first */
        get: operations["listWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a delivery and its tries */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deliver it again, with the same id */
        post: operations["resendWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List workflows that can be started by name */
        get: operations["listWorkflows"];
        put?: never;
        /** Save a definition under its own name, as a new version where there is one */
        post: operations["saveWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a run would cost at worst */
        post: operations["planRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a run and return at once */
        post: operations["submitRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/run/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a run and wait for its end */
        post: operations["runSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Check a definition without saving it */
        post: operations["validateWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a workflow, its definition and what it does in which order */
        get: operations["showWorkflow"];
        /** Save a definition whose name is known */
        put: operations["putWorkflow"];
        post?: never;
        /** Remove a saved definition with all its versions; its runs go on */
        delete: operations["removeWorkflow"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{name}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the versions of a saved workflow, newest first */
        get: operations["listWorkflowVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Error: {
            data: null;
            error: {
                /** @description Stable; the table of errors explains each. */
                code: string;
                message: string;
                /** @description What to do next. */
                remedy: string;
                details: Json;
            };
        };
        /** @description A question that waits for a person. */
        Approval: {
            /** @description `RUN:PATH`, of a task's question `RUN:PATH@ASKED`: what an answer names. */
            approval_id: string;
            run_id: string;
            workflow_name: string;
            path: string;
            step_id: string;
            /** @description The event that asked. */
            asked: number;
            /** @description What a task calls its question; null for an approval step. */
            key: string | null;
            message: string;
            /** @description What the person is to judge; approved unchanged, it is an approval step's output. */
            shown: Json;
            /** Format: date-time */
            since: string;
            times_out_at: string | null;
            on_timeout: ("abort" | "skip") | null;
            allow_edit: boolean;
            /** @description What edited data must satisfy. */
            schema: JsonObject | null;
        };
        /** @description What runs may use together. */
        Budget: {
            budget_id: string;
            /** @description Null: of every workflow. */
            workflow: string | null;
            /** @description Null: of everybody. */
            tenant_id: string | null;
            /**
             * @description A day is one in UTC.
             * @enum {string}
             */
            per: "day" | "total";
            /** @enum {string} */
            on_exceeded: "stop" | "ask";
            webhook: string | null;
            /** @description That `uses` is about. */
            day: string | null;
            uses: {
                /** @enum {string} */
                of: "cost_usd" | "tokens" | "steps" | "seconds";
                /** @description With what people have added. */
                limit: number;
                raised_by: number;
                used: number;
                /**
                 * @description `near`: 80 % are used.
                 * @enum {string}
                 */
                is: "ok" | "near" | "used_up";
            }[];
            /** @description Something had no known price: the cost is a lower bound. */
            unpriced: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        Costs: {
            /** @enum {string} */
            by: "workflow" | "model" | "day" | "tenant";
            /** Format: date-time */
            since: string;
            until: string | null;
            items: {
                runs: number;
                /** @description With `unpriced_attempts` a lower bound; `null`: nothing of it is known. */
                cost_usd: number | null;
                unpriced_attempts: number;
                input_tokens: number;
                output_tokens: number;
                key: string | null;
            }[];
            total: {
                runs: number;
                /** @description With `unpriced_attempts` a lower bound; `null`: nothing of it is known. */
                cost_usd: number | null;
                unpriced_attempts: number;
                input_tokens: number;
                output_tokens: number;
            };
            /** @description Set where there are too many runs: the sums hold from then on. */
            counted_from: string | null;
        };
        /** @description A step that has failed for good. */
        DeadLetter: {
            /** @description `RUN:PATH`. */
            dead_letter_id: string;
            run_id: string;
            workflow_name: string;
            path: string;
            code: string;
            message: string;
            /** Format: date-time */
            failed_at: string;
            /**
             * @description What was done about it. The run stays as it ended.
             * @enum {string}
             */
            status: "open" | "retried" | "resolved";
            closed_at: string | null;
            note: string | null;
            /** @description The run that repeats from there. */
            retried_as: string | null;
        };
        /** @description A key, without what opens anything. */
        Key: {
            key_id: string;
            name: string;
            scopes: ("read" | "run" | "write" | "admin")[];
            tenant_id: string | null;
            /** @description What one run that it starts may cost. */
            max_cost_usd: number | null;
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            revoked_at: string | null;
        };
        /** @description A run without its contents. */
        RunSummary: {
            run_id: string;
            workflow_name: string;
            dialect: string;
            /** @enum {string} */
            status: "queued" | "running" | "waiting" | "awaiting_approval" | "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded";
            total_cost_usd: number;
            error: components["schemas"]["ErrorDescription"] | null;
            parent_run_id: string | null;
            tenant_id: string | null;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            completed_at: string | null;
        };
        /** @description What went wrong, and what to do next. */
        ErrorDescription: {
            code: string;
            message: string;
            remedy: string;
        };
        /** @description How two runs differ. */
        RunComparison: {
            run_id: {
                a: string;
                b: string;
            };
            workflow_name: {
                a: string;
                b: string;
            };
            status: {
                a: string;
                b: string;
            };
            total_cost_usd: {
                a: number;
                b: number;
                delta: number;
            };
            duration_seconds: {
                a: number | null;
                b: number | null;
            };
            definition: {
                changed: boolean;
                diff: string | null;
            };
            input: {
                changed: boolean;
                diff: string | null;
            };
            outputs: {
                changed: boolean;
                diff: string | null;
            };
            steps: {
                path: string;
                only_in: ("a" | "b") | null;
                status: {
                    a: string | null;
                    b: string | null;
                };
                output_changed: boolean;
                /** @description Unified; null: none, or too large to be shown. */
                output_diff: string | null;
                prompt_changed: boolean;
                cost_usd_delta: number | null;
            }[];
            steps_left_out: number;
        };
        /** @description A run with its steps. */
        Run: {
            run_id: string;
            workflow_name: string;
            dialect: string;
            /** @enum {string} */
            status: "queued" | "running" | "waiting" | "awaiting_approval" | "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded";
            total_cost_usd: number;
            error: components["schemas"]["ErrorDescription"] | null;
            parent_run_id: string | null;
            tenant_id: string | null;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            completed_at: string | null;
            rerun_of: components["schemas"]["Origin"] | null;
            forked_from: components["schemas"]["Origin"] | null;
            /** @description Newest first, at most 50. */
            reruns: components["schemas"]["Repetition"][];
            /** @description Any JSON value. */
            input_data: Json;
            /** @description Any JSON value. */
            outputs: Json;
            usage: JsonObject;
            /**
             * @description The total is a lower bound.
             * @constant
             */
            unpriced?: true;
            /** @description Absent: it has none. */
            limits?: {
                /** @enum {string} */
                of: "cost_usd" | "tokens" | "steps" | "seconds";
                limit: number;
                used: number;
                /**
                 * @description `near`: 80 % are used.
                 * @enum {string}
                 */
                is: "ok" | "near" | "used_up";
            }[];
            /** @description Names of the events that it waits for. Absent: none. */
            awaited_events?: string[];
            steps: components["schemas"]["Step"][];
            /** @description Files that it has produced. Absent: not asked for. */
            artifacts?: components["schemas"]["StoredFile"][];
        };
        /** @description The run that this one repeats. */
        Origin: {
            run_id: string;
            /** @description The step from which it was done again; empty: all of it. */
            from_path: string;
            /** @description What a fork does differently; of the input only the names. */
            changes?: JsonObject;
            /**
             * @description It was deleted since.
             * @constant
             */
            deleted?: true;
        };
        /** @description A run that repeats this one. */
        Repetition: {
            run_id: string;
            /** @enum {string} */
            kind: "rerun" | "fork";
            from_path: string;
            /** @enum {string} */
            status: "queued" | "running" | "waiting" | "awaiting_approval" | "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded";
            /** Format: date-time */
            created_at: string;
        };
        /** @description An instance of a step. */
        Step: {
            /** @description Its address, e.g. `enrich[3]`. */
            path: string;
            step_id: string;
            parallel_index: number | null;
            /** @enum {string} */
            status: "pending" | "running" | "retrying" | "waiting" | "awaiting_approval" | "completed" | "failed" | "skipped" | "cancelled";
            attempt: number;
            input_prompt: string | null;
            /** @description Any JSON value. */
            output_data: Json;
            /** @description Null: the price is unknown. */
            cost_usd: number | null;
            /** @constant */
            unpriced?: true;
            usage: JsonObject;
            duration_seconds: number | null;
            error: components["schemas"]["ErrorDescription"] | null;
            /** @description What policies had to say, over all its attempts. Absent: nothing. */
            violations?: components["schemas"]["Violation"][];
            started_at: string | null;
            completed_at: string | null;
        };
        /** @description A policy that held of an output. What was found is counted, never told. */
        Violation: {
            policy: string;
            /**
             * @description What was done about it.
             * @enum {string}
             */
            action: "redact" | "block" | "approve" | "alert";
            /** @description How often, by what was looked for. */
            found?: {
                [key: string]: number;
            };
            why: string;
        };
        StoredFile: {
            path: string;
            bytes: number;
            /** Format: date-time */
            modified_at: string;
        };
        /** @description It is recorded, and goes on by itself. */
        AcceptedRun: {
            run_id: string;
            /** @enum {string} */
            status: "queued" | "running" | "waiting" | "awaiting_approval" | "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded";
        };
        RunEvent: {
            seq: number;
            event: {
                type: string;
                at: number;
            } & {
                [key: string]: unknown;
            };
        };
        /** @description What a fork does differently. */
        Changes: {
            /** @description Values in place of the old run's, name by name. */
            input?: JsonObject;
            /** @description Of the run. */
            max_cost_usd?: number;
            /** @description Of the run: `max_cost_usd`, `max_tokens`, `max_steps`, `max_seconds`, `on_exceeded`. */
            limits?: {
                [key: string]: unknown;
            };
            /** @description Of the run, in seconds. */
            timeout?: number;
            /** @description By step: `model`, `prompt`, `max_turns`, `max_cost_usd`, `timeout` (seconds). */
            steps?: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            /** @description Of the step that is forked from; so are `prompt` and `max_turns`. */
            model?: string;
            prompt?: string;
            max_turns?: number;
        } & {
            [key: string]: unknown;
        };
        /** @description What was said during one attempt. */
        StepLog: {
            /** @description The number of its event: where the next page goes on. */
            seq: number;
            path: string;
            attempt: number;
            /** Format: date-time */
            logged_at: string;
            /** @description For an agent its messages, as they came. */
            events: unknown[];
        };
        NewSchedule: {
            /** @description The name of a registered workflow. */
            workflow?: string;
            /** @description Another name of `workflow`. */
            workflow_name?: string;
            /** @description Five fields, for example `0 6 * * 1-5`. */
            cron?: string;
            /** @description Another name of `cron`. */
            cron_expression?: string;
            /** @description A name of the IANA database; UTC by default. */
            timezone?: string;
            /** @description The input of its runs. */
            input?: JsonObject;
            /** @description Another name of `input`. */
            input_data?: JsonObject;
            /** @description Whom to tell what became of its runs: `{on?: "always" | "failure" | "success", webhook?: {url}, slack?: {url}, email?: {to}}`. Null: nobody. */
            notify?: JsonObject | null;
            /** @description Whether it fires. */
            enabled?: boolean;
            /**
             * @description What becomes of a slot while the run of the slot before is under way; `skip` by default.
             * @enum {string}
             */
            overlap?: "skip" | "queue" | "cancel_previous";
            /**
             * @description What becomes of slots that passed while no server ran: none, the last one (default), or the last hundred.
             * @enum {string}
             */
            catch_up?: "none" | "one" | "all";
            /** @description Its runs start up to this much later. */
            jitter_seconds?: number;
        };
        /** @description What starts a workflow by the clock. */
        Schedule: {
            schedule_id: string;
            workflow_name: string;
            cron_expression: string;
            timezone: string;
            input_data: JsonObject;
            /** @description Without what gives access. */
            notify: JsonObject | null;
            enabled: boolean;
            disabled_reason: ("paused" | "definition_removed") | null;
            /** @enum {string} */
            overlap: "skip" | "queue" | "cancel_previous";
            /** @enum {string} */
            catch_up: "none" | "one" | "all";
            jitter_seconds: number;
            /**
             * @description `definition`: it follows the file of its workflow; `saved`: the newest version that was saved.
             * @enum {string}
             */
            source: "api" | "definition" | "saved";
            tenant_id: string | null;
            last_run_id: string | null;
            /** @description Null: it is disabled, or it never fires again. */
            next_fire_at: string | null;
            /** @description The next five, as the clocks of its zone show them. */
            next_fire_times: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        ScheduleChange: {
            /** @description Five fields, for example `0 6 * * 1-5`. */
            cron?: string;
            /** @description Another name of `cron`. */
            cron_expression?: string;
            /** @description A name of the IANA database; UTC by default. */
            timezone?: string;
            /** @description The input of its runs. */
            input?: JsonObject;
            /** @description Another name of `input`. */
            input_data?: JsonObject;
            /** @description Whom to tell what became of its runs: `{on?: "always" | "failure" | "success", webhook?: {url}, slack?: {url}, email?: {to}}`. Null: nobody. */
            notify?: JsonObject | null;
            /** @description Whether it fires. */
            enabled?: boolean;
            /**
             * @description What becomes of a slot while the run of the slot before is under way; `skip` by default.
             * @enum {string}
             */
            overlap?: "skip" | "queue" | "cancel_previous";
            /**
             * @description What becomes of slots that passed while no server ran: none, the last one (default), or the last hundred.
             * @enum {string}
             */
            catch_up?: "none" | "one" | "all";
            /** @description Its runs start up to this much later. */
            jitter_seconds?: number;
        };
        /** @description What became of a slot. */
        ScheduleSlot: {
            /** Format: date-time */
            slot: string;
            /** @enum {string} */
            kind: "cron" | "manual" | "change";
            /** @enum {string} */
            state: "claimed" | "queued" | "started" | "skipped";
            reason: string | null;
            message: string | null;
            run_id: string | null;
            last_slot: string | null;
            /** @description How many slots in a row this tells of, at least. */
            count: number;
            /** Format: date-time */
            recorded_at: string;
        };
        Template: {
            name: string;
            title: string;
            description: string;
            /** @enum {string} */
            dialect: "sandcastle" | "uhlp" | "terminal" | "agents";
            /** @description What to run, relative to its folder. */
            workflow: string;
            /** @description A file with an input to try it with. */
            input: string;
            needs: string[];
        };
        TemplateDetails: {
            name: string;
            title: string;
            description: string;
            /** @enum {string} */
            dialect: "sandcastle" | "uhlp" | "terminal" | "agents";
            /** @description What to run, relative to its folder. */
            workflow: string;
            /** @description A file with an input to try it with. */
            input: string;
            needs: string[];
            readme: string;
            files: {
                path: string;
                text: string;
            }[];
        };
        /** @description What a policy had to say about a step's output. */
        RecordedViolation: {
            run_id: string;
            workflow_name: string;
            tenant_id: string | null;
            path: string;
            /** @description Number of the event in the run; with `run_id` it names the outcome for ever. */
            seq: number;
            policy: string;
            /** @enum {string} */
            action: "redact" | "block" | "approve" | "alert";
            /** @description How often, by kind. What was found is never told. */
            found: {
                [key: string]: number;
            };
            why: string;
            /** Format: date-time */
            at: string;
        };
        /** @description A message to one receiver. */
        Webhook: {
            /** @description What its receiver gets as `webhook-id`, the same with each try. */
            webhook_id: string;
            /**
             * @description `slack` and `email`: what a schedule tells people.
             * @enum {string}
             */
            channel: "webhook" | "slack" | "email";
            event: string;
            run_id: string | null;
            workflow_name: string;
            /** @description Without what gives access. */
            url: string;
            /**
             * @description `skipped`: nothing was sent, because the receiver has said that nobody is there any more.
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed" | "skipped";
            /** @description Tries so far. */
            attempt: number;
            next_attempt_at: string | null;
            error: components["schemas"]["ErrorDescription"] | null;
            tenant_id: string | null;
            /** Format: date-time */
            created_at: string;
            completed_at: string | null;
        };
        /** @description A workflow that can be started by its name. */
        WorkflowSummary: {
            name: string;
            /**
             * @description A file of the application, saved through the service, or kept by terminals after a success.
             * @enum {string}
             */
            source: "file" | "saved" | "terminal library";
            /** @description Relative to the application. */
            file: string | null;
            /** @description The newest one of a saved definition. */
            version: number | null;
            /** @description Null: it is not valid. */
            dialect: string | null;
            description: string | null;
            valid: boolean;
            /** @description Errors and warnings, each with its place and remedy. */
            problems: JsonObject[];
            input_schema: JsonObject | null;
            /** @description When the terminal library got it. */
            created?: string;
            /** @description How often one of the terminal library has succeeded. */
            success_count?: number;
        };
        SavedWorkflow: {
            name: string;
            version: number;
            /** Format: date-time */
            saved_at: string;
            /** @description False: the newest version says the same. */
            is_new: boolean;
            /** @description Errors and warnings, each with its place and remedy. */
            problems: JsonObject[];
        };
        PlanRequest: {
            /** @description A registered name, or the text of a definition. */
            workflow: string;
            /** @description Of a text of agents: which of its workflows or agents is meant. */
            part?: string;
            /** @description The input of the run. */
            input?: JsonObject;
            /** @description The budget that the run would have. */
            max_cost_usd?: number;
            /**
             * @description Who would answer agent steps.
             * @enum {string}
             */
            agent?: "sandstorm" | "inline" | "simulated";
            /** @description What is taken for what nobody can know before a run. */
            assume?: {
                output_tokens?: number;
                value_tokens?: number;
                tool_tokens?: number;
                overhead_tokens?: number;
                bytes_per_token?: number;
            };
        };
        Plan: {
            workflow: string;
            dialect: string;
            agent: string | null;
            steps: {
                step: string;
                /** @enum {string} */
                kind: "task" | "flow" | "call" | "wait" | "approve" | "set" | "respond";
                executor: string | null;
                instances: {
                    /** @enum {string} */
                    is: "exact" | "at_most" | "unknown";
                    count: number | null;
                    because?: string;
                };
                max_concurrent: number | null;
                attempts: number;
                max_turns: number | null;
                model: string | null;
                price: {
                    /** @enum {string} */
                    is: "priced" | "unpriced" | "simulated" | "none";
                    /** @description US dollars for a million tokens. */
                    input: number | null;
                    output: number | null;
                };
                tokens: {
                    calls: number;
                    first_input: number | null;
                    output: number;
                } | null;
                attempt_usd: number | null;
                max_cost_usd: number | null;
                cost: {
                    /** @enum {string} */
                    is: "bounded" | "unpriced" | "unbounded" | "simulated" | "none";
                    /** @description `null`: not known. Never 0 for it. */
                    usd: number | null;
                    because?: string;
                };
            }[];
            total: {
                /** @enum {string} */
                is: "bounded" | "unpriced" | "unbounded" | "simulated" | "none";
                /** @description `null`: not known. Never 0 for it. */
                usd: number | null;
                because?: string;
                known_usd: number;
                at_most_usd: number | null;
            };
            budgets: {
                budget: string;
                limit_usd: number;
                /** @enum {string} */
                from: "request" | "definition";
                /** @enum {string} */
                stops: "no" | "at_worst" | "unknown";
            }[];
            /** @description Beside money. */
            limits?: {
                max_tokens?: number;
                max_steps?: number;
                max_seconds?: number;
                /** @enum {string} */
                on_exceeded: "stop" | "ask";
            };
            assumptions: {
                output_tokens: number;
                value_tokens: number;
                tool_tokens: number;
                overhead_tokens: number;
                bytes_per_token: number;
            };
            warnings: string[];
        };
        Submission: {
            /** @description A registered name, or the text of a definition. */
            workflow?: string;
            /** @description Another name of `workflow`. */
            workflow_name?: string;
            /** @description Of a text of agents: which of its workflows or agents is meant. */
            part?: string;
            /** @description Of a saved definition; absent: the newest. */
            version?: number;
            /** @description The input of the run. */
            input?: JsonObject;
            /** @description Another name of `input`. */
            input_data?: JsonObject;
            /**
             * Format: uri
             * @description Takes the place of the definition's `on_complete.webhook`.
             */
            callback_url?: string;
            /** @description Sent with the callback. */
            callback_headers?: {
                [key: string]: string;
            };
            /** @description The run stops when this much is spent. */
            max_cost_usd?: number;
            /** @description What the run may use. */
            limits?: {
                max_cost_usd?: number;
                max_tokens?: number;
                /** @description Every try of a step counts. */
                max_steps?: number;
                max_seconds?: number;
                /**
                 * @description `ask`: an approval asks to raise the limit, and the run goes on after it.
                 * @enum {string}
                 */
                on_exceeded?: "stop" | "ask";
            };
            /**
             * @description Who answers agent steps.
             * @enum {string}
             */
            agent?: "sandstorm" | "inline" | "simulated";
            /** @description The same key with the same request has the same run for 24 hours; over HTTP also as a header. */
            idempotency_key?: string;
        };
        /** @description A workflow with its definition. */
        Workflow: {
            name: string;
            /**
             * @description A file of the application, saved through the service, or kept by terminals after a success.
             * @enum {string}
             */
            source: "file" | "saved" | "terminal library";
            /** @description Relative to the application. */
            file: string | null;
            /** @description The newest one of a saved definition. */
            version: number | null;
            /** @description Null: it is not valid. */
            dialect: string | null;
            description: string | null;
            valid: boolean;
            /** @description Errors and warnings, each with its place and remedy. */
            problems: JsonObject[];
            input_schema: JsonObject | null;
            /** @description When the terminal library got it. */
            created?: string;
            /** @description How often one of the terminal library has succeeded. */
            success_count?: number;
            /** @description The definition as it is written; secrets are masked. */
            text: string;
            /** @description What it does, in which order; null where it is not valid. */
            graph: Json;
        };
        WorkflowVersion: {
            name: string;
            version: number;
            /** Format: date-time */
            saved_at: string;
        };
    };
    responses: {
        /** @description It could not be done; `error` says why, and what to do next. */
        Refused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listApprovals: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                run?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["Approval"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    getApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Approval"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    approve: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Recorded with the answer. */
                    comment?: string;
                    /** @description Absent or null: as it was shown. */
                    edited_data?: Json;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            run_id: string;
                            path: string;
                            /** @enum {string} */
                            answer: "approve" | "reject" | "skip";
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    reject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Recorded with the answer. */
                    comment?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            run_id: string;
                            path: string;
                            /** @enum {string} */
                            answer: "approve" | "reject" | "skip";
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    skip: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Recorded with the answer. */
                    comment?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            run_id: string;
                            path: string;
                            /** @enum {string} */
                            answer: "approve" | "reject" | "skip";
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listBudgets: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["Budget"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    setBudget: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description By name. Absent: of every workflow. */
                    workflow?: string;
                    /** @description Of this tenant alone. */
                    tenant_id?: string;
                    /**
                     * @description A day in UTC, or in all.
                     * @default day
                     * @enum {string}
                     */
                    per?: "day" | "total";
                    /** @description US dollars. */
                    max_cost_usd?: number;
                    /** @description Of models, in and out. */
                    max_tokens?: number;
                    /** @description Tries of steps. */
                    max_steps?: number;
                    /** @description That tries took, added up. */
                    max_seconds?: number;
                    /**
                     * @description Stop runs, or ask a person.
                     * @default stop
                     * @enum {string}
                     */
                    on_exceeded?: "stop" | "ask";
                    /**
                     * Format: uri
                     * @description Is told when 80 % are used.
                     */
                    webhook?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Budget"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    getBudget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Budget"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    removeBudget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            budget_id: string;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    sumCosts: {
        parameters: {
            query?: {
                by?: "workflow" | "model" | "day" | "tenant";
                since?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Costs"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listDeadLetters: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                status?: "open" | "retried" | "resolved";
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["DeadLetter"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    getDeadLetter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DeadLetter"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    resolveDeadLetter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Why, for whoever looks later. */
                    note?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DeadLetter"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    retryDeadLetter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            run_id: string;
                            /** @enum {string} */
                            status: "queued" | "running" | "waiting" | "awaiting_approval" | "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded";
                            /** @description What has changed of its files since. */
                            changes: string[];
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                after?: string;
            };
            header?: {
                /** @description The id of the last event seen. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @enum {string} */
                            status: "ok" | "degraded";
                            /**
                             * @description `off`: not configured.
                             * @enum {string}
                             */
                            sandstorm: "ok" | "error" | "off";
                            /**
                             * @description `off`: not configured.
                             * @enum {string}
                             */
                            redis: "ok" | "error" | "off";
                            /**
                             * @description `off`: not configured.
                             * @enum {string}
                             */
                            db: "ok" | "error" | "off";
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["Key"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Who it is for. */
                    name: string;
                    /**
                     * @description Some of read, run, write and admin; each includes those before it.
                     * @default [
                     *       "run"
                     *     ]
                     */
                    scopes?: ("read" | "run" | "write" | "admin")[];
                    /** @description It sees and starts runs of this tenant only. */
                    tenant_id?: string;
                    /** @description What one run that it starts may cost, in US dollars. */
                    max_cost_usd?: number;
                    /** @description A day or a time in ISO 8601; in UTC where it names no zone. */
                    expires_at?: string;
                    /** @description It expires after so many days. */
                    expires_in_days?: number;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            key_id: string;
                            name: string;
                            scopes: ("read" | "run" | "write" | "admin")[];
                            tenant_id: string | null;
                            /** @description What one run that it starts may cost. */
                            max_cost_usd: number | null;
                            /** Format: date-time */
                            created_at: string;
                            expires_at: string | null;
                            revoked_at: string | null;
                            /** @description What requests must bear. It is stored nowhere. */
                            key: string;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            key_id: string;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    readMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                status?: string | string[];
                workflow?: string;
                since?: string;
                until?: string;
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["RunSummary"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    compareRuns: {
        parameters: {
            query?: {
                a?: string;
                b?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RunComparison"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    resumeRuns: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: {
                                run_id: string;
                                /** @enum {string} */
                                status: "queued" | "running" | "waiting" | "awaiting_approval" | "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded";
                                /** @description What has changed of its files: it goes on with what it began with. */
                                changes: string[];
                            }[];
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    getRun: {
        parameters: {
            query?: {
                outputs?: boolean;
                prompts?: boolean;
                steps?: boolean;
                artifacts?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Run"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    deleteRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            run_id: string;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listArtifacts: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["StoredFile"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    readArtifact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    cancelRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Recorded with the end. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AcceptedRun"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    readRunEvents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["RunEvent"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    forkRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request has the same run for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A step's id or the path of an instance; absent: the first that failed, of a completed run all of it. */
                    from_step?: string;
                    /**
                     * @description What the run began with (the default), or its file as it is now.
                     * @enum {string}
                     */
                    definition?: "pinned" | "current";
                    /** @description The same key with the same request has the same run for 24 hours; over HTTP also as a header. */
                    idempotency_key?: string;
                    changes: components["schemas"]["Changes"];
                };
            };
        };
        responses: {
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            run_id: string;
                            /** @enum {string} */
                            status: "queued" | "running" | "waiting" | "awaiting_approval" | "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded";
                            /** @description Empty: the whole run. */
                            from_path: string;
                            /** @description What has changed of its files since the old run began, and what is used. Told to who asks first. */
                            changes: string[];
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    readRunGraph: {
        parameters: {
            query?: {
                called?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            format: number;
                            name: string;
                        } & {
                            [key: string]: unknown;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    readRunLogs: {
        parameters: {
            query?: {
                step?: string;
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["StepLog"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    replayRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request has the same run for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description A step's id or the path of an instance; absent: the first that failed, of a completed run all of it. */
                    from_step?: string;
                    /**
                     * @description What the run began with (the default), or its file as it is now.
                     * @enum {string}
                     */
                    definition?: "pinned" | "current";
                    /** @description The same key with the same request has the same run for 24 hours; over HTTP also as a header. */
                    idempotency_key?: string;
                };
            };
        };
        responses: {
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            run_id: string;
                            /** @enum {string} */
                            status: "queued" | "running" | "waiting" | "awaiting_approval" | "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded";
                            /** @description Empty: the whole run. */
                            from_path: string;
                            /** @description What has changed of its files since the old run began, and what is used. Told to who asks first. */
                            changes: string[];
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    rerunRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request has the same run for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description A step's id or the path of an instance; absent: the first that failed, of a completed run all of it. */
                    from_step?: string;
                    /**
                     * @description What the run began with (the default), or its file as it is now.
                     * @enum {string}
                     */
                    definition?: "pinned" | "current";
                    /** @description The same key with the same request has the same run for 24 hours; over HTTP also as a header. */
                    idempotency_key?: string;
                };
            };
        };
        responses: {
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            run_id: string;
                            /** @enum {string} */
                            status: "queued" | "running" | "waiting" | "awaiting_approval" | "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded";
                            /** @description Empty: the whole run. */
                            from_path: string;
                            /** @description What has changed of its files since the old run began, and what is used. Told to who asks first. */
                            changes: string[];
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    resumeRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            run_id: string;
                            /** @enum {string} */
                            status: "queued" | "running" | "waiting" | "awaiting_approval" | "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded";
                            /** @description What has changed of its files: it goes on with what it began with. */
                            changes: string[];
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    signalRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The event's: a step waits for it, or will wait for it. */
                    name: string;
                    /** @description What the waiting step gets as its output. */
                    payload?: Json;
                };
            };
        };
        responses: {
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            run_id: string;
                            name: string;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    streamRun: {
        parameters: {
            query?: {
                after?: string;
                progress?: boolean;
                events?: boolean;
            };
            header?: {
                /** @description The id of the last event seen. */
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description There is nothing more to come. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["Schedule"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    createSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSchedule"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            schedule_id: string;
                            workflow_name: string;
                            cron_expression: string;
                            timezone: string;
                            input_data: JsonObject;
                            /** @description Without what gives access. */
                            notify: JsonObject | null;
                            enabled: boolean;
                            disabled_reason: ("paused" | "definition_removed") | null;
                            /** @enum {string} */
                            overlap: "skip" | "queue" | "cancel_previous";
                            /** @enum {string} */
                            catch_up: "none" | "one" | "all";
                            jitter_seconds: number;
                            /**
                             * @description `definition`: it follows the file of its workflow; `saved`: the newest version that was saved.
                             * @enum {string}
                             */
                            source: "api" | "definition" | "saved";
                            tenant_id: string | null;
                            last_run_id: string | null;
                            /** @description Null: it is disabled, or it never fires again. */
                            next_fire_at: string | null;
                            /** @description The next five, as the clocks of its zone show them. */
                            next_fire_times: string[];
                            /** Format: date-time */
                            created_at: string;
                            /** Format: date-time */
                            updated_at: string;
                            /** @description That no server fires it at the moment. */
                            note?: string;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    getSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Schedule"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    removeSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            schedule_id: string;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    changeSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScheduleChange"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Schedule"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    runSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AcceptedRun"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listScheduleSlots: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["ScheduleSlot"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listStoredFiles: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                prefix?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["StoredFile"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    readStoredFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    writeStoredFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            path: string;
                            bytes: number;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    removeStoredFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            path: string;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listTemplates: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["Template"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    showTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TemplateDetails"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listViolations: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                run?: string;
                workflow?: string;
                policy?: string;
                action?: "redact" | "block" | "approve" | "alert";
                since?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["RecordedViolation"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                run?: string;
                status?: ("pending" | "delivered" | "failed" | "skipped")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["Webhook"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @description What its receiver gets as `webhook-id`, the same with each try. */
                            webhook_id: string;
                            /**
                             * @description `slack` and `email`: what a schedule tells people.
                             * @enum {string}
                             */
                            channel: "webhook" | "slack" | "email";
                            event: string;
                            run_id: string | null;
                            workflow_name: string;
                            /** @description Without what gives access. */
                            url: string;
                            /**
                             * @description `skipped`: nothing was sent, because the receiver has said that nobody is there any more.
                             * @enum {string}
                             */
                            status: "pending" | "delivered" | "failed" | "skipped";
                            /** @description Tries so far. */
                            attempt: number;
                            next_attempt_at: string | null;
                            error: components["schemas"]["ErrorDescription"] | null;
                            tenant_id: string | null;
                            /** Format: date-time */
                            created_at: string;
                            completed_at: string | null;
                            attempts: {
                                /** Format: date-time */
                                at: string;
                                duration_seconds: number;
                                /** @description The HTTP status of the answer. Null if there was none. */
                                status: number | null;
                                error: string | null;
                                /** @description The beginning of the answer. */
                                excerpt: string | null;
                            }[];
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    resendWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @description What its receiver gets as `webhook-id`, the same with each try. */
                            webhook_id: string;
                            /**
                             * @description `slack` and `email`: what a schedule tells people.
                             * @enum {string}
                             */
                            channel: "webhook" | "slack" | "email";
                            event: string;
                            run_id: string | null;
                            workflow_name: string;
                            /** @description Without what gives access. */
                            url: string;
                            /**
                             * @description `skipped`: nothing was sent, because the receiver has said that nobody is there any more.
                             * @enum {string}
                             */
                            status: "pending" | "delivered" | "failed" | "skipped";
                            /** @description Tries so far. */
                            attempt: number;
                            next_attempt_at: string | null;
                            error: components["schemas"]["ErrorDescription"] | null;
                            tenant_id: string | null;
                            /** Format: date-time */
                            created_at: string;
                            completed_at: string | null;
                            /** @description That no server delivers at the moment. */
                            note?: string;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listWorkflows: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["WorkflowSummary"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    saveWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A definition in any of the formats. */
                    text: string;
                    /** @description Where it is given, the definition must say the same. */
                    name?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SavedWorkflow"];
                        error: null;
                    };
                };
            };
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SavedWorkflow"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    planRun: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Plan"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    submitRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request has the same run for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Submission"];
            };
        };
        responses: {
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AcceptedRun"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    runSync: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key with the same request has the same run for 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Submission"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Run"];
                        error: null;
                    };
                };
            };
            /** @description Accepted: it goes on by itself. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Run"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    validateWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A definition in any of the formats. */
                    text: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            valid: boolean;
                            /** @description Errors and warnings, each with its place and remedy. */
                            problems: JsonObject[];
                            workflows: {
                                name: string;
                                dialect: string;
                                steps: number;
                            }[];
                            /** @description How many agents it has, if it is a file of agents. */
                            agents?: number;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    showWorkflow: {
        parameters: {
            query?: {
                version?: number;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Workflow"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    putWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A definition in any of the formats. */
                    text: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SavedWorkflow"];
                        error: null;
                    };
                };
            };
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SavedWorkflow"];
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    removeWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            name: string;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
    listWorkflowVersions: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            items: components["schemas"]["WorkflowVersion"][];
                            next_cursor: string | null;
                        };
                        error: null;
                    };
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Refused"];
        };
    };
}

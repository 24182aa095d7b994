import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { isKeyError, KeyStore } from "./data/key-store.ts";
import { LiveFeed } from "./data/live-feed.ts";
import { toHeal } from "./data/read-again.ts";
import { ServerProvider } from "./data/server.tsx";
import "./style.css";

const keys = new KeyStore(sessionStorage);
const queries = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => isKeyError(error) && keys.ask(error) }),
  defaultOptions: {
    // What is shown changes by events. A failed read is tried again once, in case the server has just started again.
    queries: { staleTime: 5_000, retry: 1, retryDelay: 400, refetchOnWindowFocus: false, refetchInterval: toHeal },
  },
});

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no place for the application.");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <ServerProvider keys={keys} feed={new LiveFeed()} url={location.origin}>
        <App />
      </ServerProvider>
    </QueryClientProvider>
  </StrictMode>,
);

import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { openLangGraph } from "../langgraph.ts";
import type { OpenPeer } from "../peer.ts";
import { showPostgres } from "../show-postgres.ts";

export const open: OpenPeer = async ({ postgresUrl }) => {
  const saver = PostgresSaver.fromConnString(postgresUrl);
  await saver.setup();
  return { ...openLangGraph(saver), settings: () => showPostgres(postgresUrl), close: () => saver.end() };
};

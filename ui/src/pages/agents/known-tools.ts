// The available tools: built-in tools, each MCP tool, and each MCP server as a whole.
import { keys } from '../../client/keys';
import { everyPage } from '../../client/pages';
import { rpc } from '../../client/rpc';
import { m } from '../../paraglide/messages.js';

export interface KnownTool {
  name: string;
  about: string;
}

const OWN: Record<string, () => string> = {
  calc: m.agents_tool_calc,
  channel_send: m.agents_tool_channel_send,
  web_search: m.agents_tool_web_search,
  web_fetch: m.agents_tool_web_fetch,
  webhook: m.agents_tool_webhook,
  webhook_get_full_payload: m.agents_tool_payload,
  speak: m.agents_tool_speak,
};

export const knownTools = () => ({
  // MCP servers are defined in settings, so a settings change must invalidate this query.
  queryKey: [...keys.config, 'tools'],
  queryFn: async (): Promise<KnownTool[]> => {
    const tools = (await everyPage((at) => rpc('tools.list', at))).flatMap((page) => page.tools);
    const servers = [...new Set(tools.flatMap(({ mcp_server }) => mcp_server ?? []))];
    const named = tools.map(({ name, description }) => ({ name, about: OWN[name]?.() ?? short(description) }));
    const whole = servers.map((id) => ({ name: `mcp__${id}__*`, about: m.agents_tool_mcp({ server: id }) }));
    return [...named, ...whole];
  },
});

/**
 * Returns the first sentence of a description. Descriptions are written for models and may be long.
 */
function short(description: string): string {
  const first = /^.*?[.!?](?=\s|$)/s.exec(description)?.[0] ?? description;
  return first.length > 160 ? `${first.slice(0, 159)}…` : first;
}

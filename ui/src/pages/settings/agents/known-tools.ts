// The tools that the gateway comes with, and those of its MCP servers by the beginning of their names.
import { keys } from '../../../client/keys';
import { rpc } from '../../../client/rpc';
import { m } from '../../../paraglide/messages.js';
import { facts } from '../../../state/facts.svelte';

export interface KnownTool {
  name: string;
  about: string;
}

const builtIn = (): KnownTool[] => [
  { name: 'calc', about: m.agents_tool_calc() },
  { name: 'web_search', about: m.agents_tool_web_search() },
  { name: 'web_fetch', about: m.agents_tool_web_fetch() },
  { name: 'webhook', about: m.agents_tool_webhook() },
  { name: 'webhook_get_full_payload', about: m.agents_tool_payload() },
  ...(facts.voice_enabled ? [{ name: 'speak', about: m.agents_tool_speak() }] : []),
];

/** The query for them. */
export const knownTools = () => ({
  queryKey: [...keys.config, 'mcp-tools'],
  queryFn: async (): Promise<KnownTool[]> => {
    const { values } = await rpc('config.get', { keys: ['mcp'] });
    const servers = new Set(
      values.flatMap(({ key }) => /^mcp\.servers\.(.+)\.(?:command|args|env|url)$/.exec(key)?.[1] ?? []),
    );
    const ofServers = [...servers].map((id) => ({ name: `mcp__${id}__*`, about: m.agents_tool_mcp({ server: id }) }));
    return [...builtIn(), ...ofServers];
  },
});

// Queries of whole lists that several pages show.
import { keys } from './keys';
import { everyPage } from './pages';
import { rpc } from './rpc';

export const allAgents = {
  queryKey: [...keys.agents, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('agents.list', at))).flatMap((page) => page.agents),
};

export const allChannels = {
  queryKey: [...keys.channels, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('channels.list', at))).flatMap((page) => page.channels),
};

/** The people who write to agents through channels. */
export const allPeople = {
  queryKey: [...keys.channels, 'people'],
  queryFn: async () => (await everyPage((at) => rpc('pairing.people', at))).flatMap((page) => page.people),
};

export const allWebhooks = {
  queryKey: [...keys.webhooks, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('webhooks.list', at))).flatMap((page) => page.webhooks),
};

export const allProviders = {
  queryKey: [...keys.providers, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('providers.list', at))).flatMap((page) => page.providers),
};

export const allVariables = {
  queryKey: [...keys.env, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('env.list', at))).flatMap((page) => page.env_variables),
};

export const allSshKeys = {
  queryKey: [...keys.sshKeys, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('ssh_keys.list', at))).flatMap((page) => page.ssh_keys),
};

export const allServers = {
  queryKey: [...keys.mcp, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('mcp.list', at))).flatMap((page) => page.servers),
};

/** The gateway queries every provider, so the answer is cached for a minute. */
export const allModels = () => ({
  queryKey: [...keys.models, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('models.list', at))).flatMap((page) => page.models),
  staleTime: 60_000,
});

// Maps paths to pages. Each page is loaded on first use.
import type { Component } from 'svelte';
import { parse } from 'regexparam';

/** A page; `params` are the parameters in the path. */
export type PageComponent = Component<{ params?: Record<string, string> }>;
type Load = () => Promise<{ default: PageComponent }>;

interface Loading {
  load: Load;
  /**
   * The page, once it is loaded. An `import()` of a loaded module resolves only several tasks
   * later.
   */
  readonly loaded: PageComponent | null;
}

interface Route extends Loading {
  pattern: RegExp;
  keys: string[];
}

function loading(load: Load): Loading {
  let loaded: PageComponent | null = null;
  return {
    load: async () => {
      const page = await load();
      loaded = page.default;
      return page;
    },
    get loaded() {
      return loaded;
    },
  };
}

const route = (path: string, load: Load): Route => Object.assign(loading(load), parse(path));

const ROUTES: Route[] = [
  route('/overview', () => import('../pages/overview/Overview.svelte')),
  route('/chat/:session?', () => import('../pages/chat/Chat.svelte')),
  route('/deliveries/:id?', () => import('../pages/deliveries/Deliveries.svelte')),
  route('/inbox', () => import('../pages/inbox/Inbox.svelte')),
  route('/approve/:token', () => import('../pages/approve/Approve.svelte')),
  route('/webhooks/:id?', () => import('../pages/webhooks/Webhooks.svelte')),
  route('/agents/:id?', () => import('../pages/agents/Agents.svelte')),
  route('/channels/:id?', () => import('../pages/channels/Channels.svelte')),
  route('/vault', () => import('../pages/vault/Vault.svelte')),
  route('/vault/stored', () => import('../pages/vault/stored/Stored.svelte')),
  route('/vault/environment', () => import('../pages/vault/environment/Environment.svelte')),
  route('/vault/ssh-keys', () => import('../pages/vault/ssh-keys/SshKeys.svelte')),
  route('/settings/:section?/:id?', () => import('../pages/settings/Settings.svelte')),
  // Only `npm run dev` builds this page. In every other build, the condition is false and the page is left out.
  ...(import.meta.env.MODE === 'development' ? [route('/design', () => import('../design/page/Design.svelte'))] : []),
];

/** The new paths of pages that were part of the settings. Bookmarks and links in old messages have the old paths. */
const MOVED: Record<string, string> = {
  webhooks: '/webhooks',
  agents: '/agents',
  channels: '/channels',
  inbox: '/inbox',
  vault: '/vault',
  environment: '/vault/environment',
  'ssh-keys': '/vault/ssh-keys',
  about: '/settings/system',
};

/** Returns the path that replaced `path`, or null if `path` is current. */
export function movedTo(path: string): string | null {
  if (['/', '/login', '/onboarding'].includes(path)) return '/overview';
  const [, section = '', rest = ''] = /^\/settings\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  const to = Object.hasOwn(MOVED, section) ? MOVED[section] : undefined;
  return to === undefined ? null : to + rest;
}

const notFound = loading(() => import('../pages/NotFound.svelte'));

/** Returns the page to load for a path, with the parameters in the path. */
export function find(path: string): { page: Loading; params: Record<string, string> } {
  for (const page of ROUTES) {
    const match = page.pattern.exec(path);
    if (!match) continue;
    const params: Record<string, string> = {};
    page.keys.forEach((key, at) => {
      const value = match[at + 1];
      if (value !== undefined) params[key] = decode(value);
    });
    return { page, params };
  }
  return { page: notFound, params: {} };
}

/** Decodes a path segment. Invalid percent-encoding is returned unchanged. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Which path shows which page. Each page is loaded when it is first gone to.
import type { Component } from 'svelte';
import { parse } from 'regexparam';

/** A page; `params` is what the path says to it. */
export type PageComponent = Component<{ params?: Record<string, string> }>;
type Load = () => Promise<{ default: PageComponent }>;

interface Route {
  pattern: RegExp;
  keys: string[];
  load: Load;
}

const route = (path: string, load: Load): Route => ({ ...parse(path), load });

const ROUTES: Route[] = [
  route('/chat/:session?', () => import('../pages/chat/Chat.svelte')),
  route('/deliveries/:id?', () => import('../pages/deliveries/Deliveries.svelte')),
  route('/settings/:section?/:id?', () => import('../pages/settings/Settings.svelte')),
];

const notFound: Load = () => import('../pages/NotFound.svelte');

/** What a path shows: the page to load and what the path says to it. */
export function find(path: string): { load: Load; params: Record<string, string> } {
  for (const { pattern, keys, load } of ROUTES) {
    const match = pattern.exec(path);
    if (!match) continue;
    const params: Record<string, string> = {};
    keys.forEach((key, at) => {
      const value = match[at + 1];
      if (value !== undefined) params[key] = decode(value);
    });
    return { load, params };
  }
  return { load: notFound, params: {} };
}

/** A part of a path as text; what is no encoding stands for itself. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

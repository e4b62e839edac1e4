// The senders to choose from.
import type { Component } from 'svelte';
import BadgeCheck from '@lucide/svelte/icons/badge-check';
import Bug from '@lucide/svelte/icons/bug';
import CalendarClock from '@lucide/svelte/icons/calendar-clock';
import CreditCard from '@lucide/svelte/icons/credit-card';
import GitMerge from '@lucide/svelte/icons/git-merge';
import GitPullRequest from '@lucide/svelte/icons/git-pull-request';
import Hash from '@lucide/svelte/icons/hash';
import Phone from '@lucide/svelte/icons/phone';
import ShoppingBag from '@lucide/svelte/icons/shopping-bag';
import Siren from '@lucide/svelte/icons/siren';
import SquareKanban from '@lucide/svelte/icons/square-kanban';
import Webhook from '@lucide/svelte/icons/webhook';
import type { AuthMode, ProfileInfo } from '../../client/generated/rpc';
import { m } from '../../paraglide/messages.js';
import { senderName } from './product';
import { aboutOf } from './senders';

type Icon = Component<{ size?: number; 'aria-hidden'?: boolean | 'true' | 'false' }>;

export interface Source {
  id: string;
  name: string;
  text: string;
  icon: Icon;
  profile: string;
  mode: AuthMode;
}

/** Icons by profile. Others have that of a webhook. */
const ICONS: Readonly<Record<string, Icon>> = {
  codehost_a: GitPullRequest,
  codehost_b: GitMerge,
  payments: CreditCard,
  tracker_a: SquareKanban,
  incident: Siren,
  errors: Bug,
  slack: Hash,
  shopify: ShoppingBag,
  twilio: Phone,
  schedule: CalendarClock,
};

/** Sources for any sender, which remain when nothing else is found. */
const ANY: readonly string[] = ['standard_webhooks', 'generic'];

export const sourceIcon = (profile: string): Icon => ICONS[profile] ?? Webhook;

/** The senders to offer: known ones, then Standard Webhooks, then generic. */
export function sources(profiles: readonly ProfileInfo[]): Source[] {
  const of = (profile: ProfileInfo): Source => ({
    id: profile.id,
    name: senderName(profile),
    text: aboutOf(profile),
    icon: sourceIcon(profile.id),
    profile: profile.id,
    mode: profile.default_auth_mode,
  });
  const standard: Source = {
    id: 'standard_webhooks',
    name: m.webhooks_source_standard_name(),
    text: m.webhooks_source_standard(),
    icon: BadgeCheck,
    profile: 'generic',
    mode: 'standard_webhooks',
  };
  const known = profiles.filter(({ id }) => id !== 'generic').map(of);
  return [...known, standard, ...profiles.filter(({ id }) => id === 'generic').map(of)];
}

/** Text without case and accents. */
const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/**
 * The sources with words that start with each typed word, in name, ID or text: those found by their name first. If there
 * is none, those for any sender. `named` is how many match.
 */
export function found(all: readonly Source[], typed: string): { list: readonly Source[]; named: number } {
  const words = folded(typed).split(/\s+/).filter(Boolean);
  const has = (text: string) => {
    const there = folded(text).split(/[^\p{L}\p{N}.]+/u);
    return words.every((word) => there.some((one) => one.startsWith(word)));
  };
  const byName = all.filter(({ name }) => has(name));
  const byText = all.filter((one) => !byName.includes(one) && has(`${one.name} ${one.id} ${one.text}`));
  const list = [...byName, ...byText];
  return list.length > 0 ? { list, named: list.length } : { list: all.filter(({ id }) => ANY.includes(id)), named: 0 };
}

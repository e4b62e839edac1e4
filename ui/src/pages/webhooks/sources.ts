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
import { productName } from './product';

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
    name: profile.id === 'generic' ? m.webhooks_source_generic_name() : productName(profile),
    text: profile.about,
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

/** The sources whose name, ID or text has every word, and those for any sender if none has. `named` is how many match. */
export function found(all: readonly Source[], typed: string): { list: readonly Source[]; named: number } {
  const words = folded(typed).split(/\s+/).filter(Boolean);
  const list = all.filter(({ id, name, text }) => {
    const where = folded(`${name} ${id} ${text}`);
    return words.every((word) => where.includes(word));
  });
  return list.length > 0 ? { list, named: list.length } : { list: all.filter(({ id }) => ANY.includes(id)), named: 0 };
}

// The senders to choose from.
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
import type { LucideIcon } from '../../parts/icon';

export interface Source {
  id: string;
  name: string;
  text: string;
  icon: LucideIcon;
  profile: string;
  mode: AuthMode;
}

/** Icons by profile. Other profiles have the webhook icon. */
const ICONS: Readonly<Record<string, LucideIcon>> = {
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

/** Sources for any sender, which stay in view during a search. */
const ANY: readonly string[] = ['generic', 'standard_webhooks'];

export const sourceIcon = (profile: string): LucideIcon => ICONS[profile] ?? Webhook;

export interface Sources {
  /** Senders with a separate profile. */
  known: Source[];
  any: Source[];
}

export function sources(profiles: readonly ProfileInfo[]): Sources {
  const of = (profile: ProfileInfo): Source => ({
    id: profile.id,
    name: senderName(profile),
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
  const all = [...profiles.map(of), standard];
  return {
    known: all.filter(({ id }) => !ANY.includes(id)),
    any: ANY.flatMap((any) => all.filter(({ id }) => id === any)),
  };
}

/** Text without case and accents. */
const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/**
 * Returns the known senders whose name, ID or text has words that start with each typed word. Senders found by name
 * come first. `named` counts the matches and the sources for any sender.
 */
export function found({ known, any }: Sources, typed: string): { list: readonly Source[]; named: number } {
  const words = folded(typed).split(/\s+/).filter(Boolean);
  const has = (text: string) => {
    const there = folded(text).split(/[^\p{L}\p{N}.]+/u);
    return words.every((word) => there.some((one) => one.startsWith(word)));
  };
  const isNamed = (one: Source) => has(`${one.name} ${one.id} ${one.text}`);
  const byName = known.filter(({ name }) => has(name));
  const list = [...byName, ...known.filter((one) => !byName.includes(one) && isNamed(one))];
  return { list, named: list.length + any.filter(isNamed).length };
}

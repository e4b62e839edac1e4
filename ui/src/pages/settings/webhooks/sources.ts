// Names, icons and descriptions of senders. Unknown profiles use the gateway's texts.
import type { Component } from 'svelte';
import BadgeCheck from '@lucide/svelte/icons/badge-check';
import Bug from '@lucide/svelte/icons/bug';
import CreditCard from '@lucide/svelte/icons/credit-card';
import GitMerge from '@lucide/svelte/icons/git-merge';
import GitPullRequest from '@lucide/svelte/icons/git-pull-request';
import Hash from '@lucide/svelte/icons/hash';
import Phone from '@lucide/svelte/icons/phone';
import ShoppingBag from '@lucide/svelte/icons/shopping-bag';
import Siren from '@lucide/svelte/icons/siren';
import SquareKanban from '@lucide/svelte/icons/square-kanban';
import Webhook from '@lucide/svelte/icons/webhook';
import type { AuthMode, ProfileInfo } from '../../../client/generated/rpc';
import { m } from '../../../paraglide/messages.js';
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

const KNOWN: Readonly<Record<string, { icon: Icon; text: () => string }>> = {
  generic: { icon: Webhook, text: m.webhooks_source_generic },
  codehost_a: { icon: GitPullRequest, text: m.webhooks_source_codehost_a },
  codehost_b: { icon: GitMerge, text: m.webhooks_source_codehost_b },
  payments: { icon: CreditCard, text: m.webhooks_source_payments },
  tracker_a: { icon: SquareKanban, text: m.webhooks_source_tracker_a },
  incident: { icon: Siren, text: m.webhooks_source_incident },
  errors: { icon: Bug, text: m.webhooks_source_errors },
  slack: { icon: Hash, text: m.webhooks_source_slack },
  shopify: { icon: ShoppingBag, text: m.webhooks_source_shopify },
  twilio: { icon: Phone, text: m.webhooks_source_twilio },
};

export const sourceIcon = (profile: string): Icon => KNOWN[profile]?.icon ?? Webhook;

/** The senders to offer: known ones, then Standard Webhooks, then generic. */
export function sources(profiles: readonly ProfileInfo[]): Source[] {
  const of = (profile: ProfileInfo): Source => ({
    id: profile.id,
    name: profile.id === 'generic' ? m.webhooks_source_generic_name() : productName(profile),
    text: KNOWN[profile.id]?.text() ?? m.webhooks_source_events({ count: profile.events.length }),
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

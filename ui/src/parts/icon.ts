import type { Component } from 'svelte';

/** An icon of `@lucide/svelte`. `size` is in pixels. */
export type LucideIcon = Component<{ size?: number; 'aria-hidden'?: boolean | 'true' | 'false' }>;

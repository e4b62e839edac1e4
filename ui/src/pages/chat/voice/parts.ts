// What chat shows of voice: one part of the page, loaded by itself.
export { default as Recorder } from './Recorder.svelte';
export { default as SpeakMode } from './SpeakMode.svelte';
export { default as Spoken } from './Spoken.svelte';

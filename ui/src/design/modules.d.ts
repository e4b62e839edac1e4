// Modules that the build makes; see scripts/marks.mjs.
declare module '*.svg?path' {
  const path: string;
  export default path;
}

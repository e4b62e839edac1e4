# Evaluates flake.nix and its NixOS module with stand-ins for nixpkgs, which the tests do not download. This finds paths
# that do not exist, wrong names of options and attributes, and a unit that the module cannot change. It builds nothing.
{ root }:
let
  inherit (builtins)
    all
    attrNames
    elem
    fromTOML
    match
    pathExists
    readFile
    ;
  made = kind: arguments: arguments // { outPath = "/nix/store/made-${kind}"; };
  lib = {
    genAttrs =
      names: value:
      builtins.listToAttrs (
        map (name: {
          inherit name;
          value = value name;
        }) names
      );
    importTOML = path: fromTOML (readFile path);
    cleanSource = path: path;
    licenses.asl20 = "Apache-2.0";
    getExe = package: "${package}/bin/${package.meta.mainProgram}";
    mkEnableOption = description: { inherit description; };
    mkOption = option: option;
    mkIf = condition: content: if condition then content else null;
    types = {
      package = "package";
      path = "path";
      str = "str";
      attrsOf = of: "attrsOf ${of}";
      nullOr = of: "nullOr ${of}";
    };
  };
  pkgsOf = system: {
    stdenv.hostPlatform = { inherit system; };
    buildNpmPackage = made "ui";
    rustPlatform.buildRustPackage = made "gatehouse";
    runCommand =
      name: _: script:
      made name { inherit script; };
    importNpmLock = {
      npmConfigHook = "hook";
      __functor = _: { npmRoot }: { inherit npmRoot; };
    };
    cmake = "cmake";
    installShellFiles = "installShellFiles";
    perl = "perl";
  };
  systems = [
    "x86_64-linux"
    "aarch64-linux"
  ];

  flake = import (root + "/flake.nix");
  outputs = flake.outputs {
    self = outputs;
    nixpkgs = {
      inherit lib;
      legacyPackages = lib.genAttrs systems pkgsOf;
    };
  };
  packages = map (system: outputs.packages.${system}.default) systems;
  module =
    environmentFile:
    outputs.nixosModules.default {
      inherit lib;
      config.services.gatehouse = {
        enable = true;
        package = builtins.head packages;
        environment.SERVICE_LOG__LEVEL = "debug";
        inherit environmentFile;
      };
      pkgs = pkgsOf "x86_64-linux";
    };
  plain = module null;
  service = plain.config.systemd.services.gatehouse;
  unit = builtins.head plain.config.systemd.packages;

  manifest = fromTOML (readFile (root + "/Cargo.toml"));
  lock = fromTOML (readFile (root + "/Cargo.lock"));
  checks = {
    "the packages are for both systems" = attrNames outputs.packages == [
      "aarch64-linux"
      "x86_64-linux"
    ];
    "the version is that of Cargo.toml" =
      all (package: package.version == manifest.workspace.package.version) packages;
    "Cargo.toml has the profile" = all (package: manifest.profile ? ${package.buildType}) packages;
    "the lock file exists" = all (package: pathExists package.cargoLock.lockFile) packages;
    # Others need a hash in the flake.
    "all crates are from a registry" = all (
      package: match "registry\\+.*" (package.source or "registry+") != null
    ) lock.package;
    "the page has a lock file" = pathExists (root + "/ui/package-lock.json");
    "the main program is named" = all (package: package.meta.mainProgram == "gatehouse") packages;
    "the options exist" =
      attrNames plain.options.services.gatehouse == [
        "enable"
        "environment"
        "environmentFile"
        "package"
      ];
    "the default package is of the system" =
      plain.options.services.gatehouse.package.default.outPath == "/nix/store/made-gatehouse";
    "the service starts at boot" = elem "multi-user.target" service.wantedBy;
    "the variables are passed on" = service.environment.SERVICE_LOG__LEVEL == "debug";
    "no file of variables by default" = service.serviceConfig.EnvironmentFile == null;
    "a file of variables" =
      (module "/secrets").config.systemd.services.gatehouse.serviceConfig.EnvironmentFile == "/secrets";
    "the user exists" = plain.config.users.users.gatehouse.group == "gatehouse";
    # The module replaces it, and fails if it is not there.
    "the unit starts /usr/bin/gatehouse" =
      match ".*ExecStart=/usr/bin/gatehouse serve.*" (readFile (root + "/deploy/gatehouse.service")) != null;
    "the module replaces the path of the program" =
      match ".*--replace-fail /usr/bin/gatehouse /nix/store/made-gatehouse/bin/gatehouse.*" unit.script != null;
  };
  # What has no check of its own is evaluated, too.
  whole = builtins.deepSeq [
    packages
    plain.config
    plain.options
    flake.inputs
  ] checks;
in
builtins.filter (name: !whole.${name}) (attrNames whole)

# nix run github:…#gatehouse, or the NixOS module. nixpkgs must contain the Rust version of Cargo.toml.
{
  description = "Gatehouse, a self-hosted gateway for agents, webhooks and voice";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      forEach = build: lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});
      version = (lib.importTOML ./Cargo.toml).workspace.package.version;
      source = lib.cleanSource ./.;

      ui =
        pkgs:
        pkgs.buildNpmPackage {
          pname = "gatehouse-ui";
          inherit version;
          src = source;
          sourceRoot = "source/ui";
          npmDeps = pkgs.importNpmLock { npmRoot = ./ui; };
          npmConfigHook = pkgs.importNpmLock.npmConfigHook;
          installPhase = ''
            runHook preInstall
            cp --recursive dist $out
            runHook postInstall
          '';
        };

      build =
        pkgs:
        pkgs.rustPlatform.buildRustPackage {
          pname = "gatehouse";
          inherit version;
          src = source;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [
            "--package"
            "gatehouse"
          ];
          buildType = "dist";
          # The tests need a database, a browser and fixed ports: `cargo xtask test` runs them.
          doCheck = false;
          nativeBuildInputs = [
            pkgs.cmake
            pkgs.installShellFiles
            pkgs.perl
          ];
          dontUseCmakeConfigure = true;
          preBuild = ''
            mkdir --parents ui
            cp --recursive ${ui pkgs} ui/dist
          '';
          postInstall = ''
            $out/bin/gatehouse generate --man man
            installManPage man/*
            for shell in bash fish zsh; do
              $out/bin/gatehouse completions $shell > gatehouse.$shell
            done
            installShellCompletion gatehouse.{bash,fish,zsh}
          '';
          meta = {
            description = "Self-hosted gateway for agents, webhooks and voice";
            license = lib.licenses.asl20;
            mainProgram = "gatehouse";
            platforms = systems;
          };
        };
    in
    {
      packages = forEach (pkgs: rec {
        gatehouse = build pkgs;
        default = gatehouse;
      });

      nixosModules.default = import ./deploy/nixos.nix self;
    };
}
